#include "kernels/elementwise/activation.h"

#include <cmath>
#include <numbers>

#include "kernels/reference/common/activation_math.h"
#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {
namespace reference {
namespace {

// sqrt(2 / pi) with the digits of the published formula.
constexpr double kGeluScale = 0.79788456;
constexpr double kGeluCubic = 0.044715;
constexpr double kQuickGelu = 1.702;

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

// Formulas and slopes are written as in the papers, not as kernels compute them, so that a mistake
// in a transformed formula shows.
double gelu_tanh_of(double x) {
  return std::tanh(kGeluScale * x * (1 + kGeluCubic * x * x));
}

double gelu_tanh_slope(double x) {
  const double t = gelu_tanh_of(x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kGeluScale * (1 + 3 * kGeluCubic * x * x);
}

}  // namespace

/// Returns y = f(x) in double; formulas stand at the enum.
double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + gelu_tanh_of(x));
    case Activation::gelu_erf:
      return x * normal_cdf(x);
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::squared_relu:
      return x > 0 ? x * x : 0;
    case Activation::tanh:
      return std::tanh(x);
    case Activation::quick_gelu:
      return x * sigmoid(kQuickGelu * x);
    case Activation::sigmoid:
      return sigmoid(x);
  }
  return x;
}

/// Returns f'(x), by its formula and not by a difference: backward passes are compared with
/// differences elsewhere.
double activation_slope(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return 1;
    case Activation::gelu_tanh:
      return gelu_tanh_slope(x);
    case Activation::gelu_erf:
      return normal_cdf(x) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
    case Activation::silu:
      return sigmoid(x) * (1 + x * (1 - sigmoid(x)));
    case Activation::squared_relu:
      return x > 0 ? 2 * x : 0;
    case Activation::tanh:
      return 1 - std::tanh(x) * std::tanh(x);
    case Activation::quick_gelu: {
      const double s = sigmoid(kQuickGelu * x);
      return s * (1 + kQuickGelu * x * (1 - s));
    }
    case Activation::sigmoid:
      return sigmoid(x) * sigmoid(-x);
  }
  return 1;
}

}  // namespace reference

namespace {

double gate_within(const GateLimits& limits, double gate) {
  return gate > limits.clamp ? limits.clamp : gate;
}

double linear_within(const GateLimits& limits, double up) {
  return std::abs(up) > limits.clamp ? std::copysign(limits.clamp, up) : up;
}

}  // namespace

using reference::activate;
using reference::activation_slope;
using reference::Reader;
using reference::Writer;

/// y = f(x + bias).
void run(device::ReferenceStream&, const BiasActivationForward& kernel) {
  const Reader x(kernel.x), bias(kernel.bias);
  const Writer y(kernel.y);
  for (Index row = 0; row < reference::rows_of(kernel.x); ++row) {
    for (Index column = 0; column < kernel.x.size(-1); ++column) {
      const double z = x(row, column) + (bias ? bias(column) : 0);
      y.set(activate(kernel.activation, z), row, column);
    }
  }
}

/// dx = dy f'(x + bias); the bias' gradient is a kernel of its own.
void run(device::ReferenceStream&, const BiasActivationBackward& kernel) {
  const Reader x(kernel.x), dy(kernel.dy), bias(kernel.bias);
  const Writer dx(kernel.dx);
  for (Index row = 0; row < reference::rows_of(kernel.x); ++row) {
    for (Index column = 0; column < kernel.x.size(-1); ++column) {
      const double z = x(row, column) + (bias ? bias(column) : 0);
      dx.set(dy(row, column) * activation_slope(kernel.activation, z), row, column);
    }
  }
}

void run(device::ReferenceStream&, const GatedActivationForward& kernel) {
  const Reader x(kernel.x), bias(kernel.bias);
  const Writer y(kernel.y);
  const Index f = kernel.y.size(-1);
  for (Index row = 0; row < reference::rows_of(kernel.x); ++row) {
    for (Index column = 0; column < f; ++column) {
      const double gate = x(row, column) + (bias ? bias(column) : 0);
      const double up = x(row, f + column) + (bias ? bias(f + column) : 0);
      y.set(activate(kernel.activation, gate_within(kernel.limits, gate)) *
                (linear_within(kernel.limits, up) + kernel.limits.offset),
            row, column);
    }
  }
}

/// Writes both halves of dx, from the value of the gate and of the linear half.
void run(device::ReferenceStream&, const GatedActivationBackward& kernel) {
  const Reader x(kernel.x), dy(kernel.dy), bias(kernel.bias);
  const Writer dx(kernel.dx);
  const Index f = kernel.dy.size(-1);
  for (Index row = 0; row < reference::rows_of(kernel.x); ++row) {
    for (Index column = 0; column < f; ++column) {
      const double gate = x(row, column) + (bias ? bias(column) : 0);
      const double up = x(row, f + column) + (bias ? bias(f + column) : 0);
      const double upstream = dy(row, column), clamp = kernel.limits.clamp;
      const double cut = gate_within(kernel.limits, gate);
      const double linear = linear_within(kernel.limits, up) + kernel.limits.offset;
      const double slope = gate > clamp ? 0 : activation_slope(kernel.activation, cut);
      dx.set(upstream * linear * slope, row, column);
      dx.set(std::abs(up) > clamp ? 0 : upstream * activate(kernel.activation, cut), row,
             f + column);
    }
  }
}

}  // namespace mpitron::kernels
