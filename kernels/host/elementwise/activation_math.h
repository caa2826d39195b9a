#pragma once
#include "kernels/host/common/simd.h"
#include "kernels/linear/matmul.h"

// The formulas of activation.h in sixteen lanes. `value` alone serves the forward pass,
// `both` the backward pass, where value and slope share their exponential.

namespace mpitron::kernels::host {

struct ValueAndSlope {
  simd::Float value, slope;
};

struct Identity {
  static simd::Float value(simd::Float x) { return x; }
  static ValueAndSlope both(simd::Float x) { return {x, simd::splat(1.f)}; }
};

/// Uses 0.5 (1 + tanh u) = sigmoid(2 u) = 1 / (1 + 2^t) with t = -2 log2(e) u, which takes one
/// exponential and one division. The backward pass bounds the power, since infinity times zero
/// would be NaN.
struct GeluTanh {
  static constexpr float kSlope = 1.59576912f;  // 2 sqrt(2 / pi)
  static constexpr float kCubic = 0.044715f;
  static constexpr float kExponent = -2.30220819f;  // -kSlope log2(e)

  static simd::Float power(simd::Float x) {
    return x * simd::fma(x * x, simd::splat(kExponent * kCubic), simd::splat(kExponent));
  }
  static simd::Float value(simd::Float x) { return x / (1.f + simd::exp2(power(x))); }
  static ValueAndSlope both(simd::Float x) {
    const simd::Float e = simd::exp2(simd::min(simd::splat(115.f), power(x)));
    const simd::Sigmoid s = simd::sigmoid_of_power(e);
    const simd::Float y = x * s.value;
    const simd::Float du = simd::fma(x * x, simd::splat(3 * kSlope * kCubic), simd::splat(kSlope));
    return {y, simd::fma(y * s.complement, du, s.value)};
  }
};

/// Uses x Phi(x) = max(x, 0) - |x| Phi(-|x|), which keeps the precision of the left tail. Beyond 14
/// the tail is below fp32's smallest normal number.
struct GeluErf {
  static simd::Float value(simd::Float x) {
    const simd::Float a = simd::min(simd::splat(14.f), simd::abs(x));
    return value(x, a, simd::exp2(simd::log2_normal_tail(a)));
  }
  static ValueAndSlope both(simd::Float x) {
    constexpr float kDensity = 0.398942280f;  // 1 / sqrt(2 pi)
    const simd::NormalTail n = simd::normal_tail(x);
    const simd::Float cdf = x < 0.f ? n.tail : 1.f - n.tail;
    return {value(x, n.a, n.tail), simd::fma(x, n.gauss * kDensity, cdf)};
  }

 private:
  static simd::Float value(simd::Float x, simd::Float a, simd::Float tail) {
    return simd::fma(-a, tail, simd::max(simd::Float{}, x));
  }
};

struct Silu {
  static simd::Float value(simd::Float x) { return x / (1.f + simd::exp(-x)); }
  static ValueAndSlope both(simd::Float x) {
    const simd::Sigmoid s = simd::sigmoid(x);
    const simd::Float y = x * s.value;
    return {y, simd::fma(y, s.complement, s.value)};
  }
};

struct SquaredRelu {
  static simd::Float value(simd::Float x) {
    const simd::Float positive = simd::max(simd::Float{}, x);
    return positive * positive;
  }
  static ValueAndSlope both(simd::Float x) {
    const simd::Float positive = simd::max(simd::Float{}, x);
    return {positive * positive, positive + positive};
  }
};

struct QuickGelu {
  static constexpr float kFactor = 1.702f;
  static simd::Float value(simd::Float x) { return x / (1.f + simd::exp(-kFactor * x)); }
  static ValueAndSlope both(simd::Float x) {
    const simd::Sigmoid s = simd::sigmoid(kFactor * x);
    const simd::Float y = x * s.value;
    return {y, simd::fma(y * kFactor, s.complement, s.value)};
  }
};

struct LogisticSigmoid {
  static simd::Float value(simd::Float x) { return simd::sigmoid(x).value; }
  static ValueAndSlope both(simd::Float x) {
    const simd::Sigmoid s = simd::sigmoid(x);
    return {s.value, s.value * s.complement};
  }
};

struct Tanh {
  static simd::Float value(simd::Float x) { return simd::tanh(x); }
  static ValueAndSlope both(simd::Float x) {
    const simd::Float y = simd::tanh(x);
    return {y, 1.f - y * y};
  }
};

/// Calls f(formula) with the struct above that belongs to `activation`.
template <class F>
void visit_activation(Activation activation, F&& f) {
  switch (activation) {
    case Activation::none:
      return f(Identity{});
    case Activation::gelu_tanh:
      return f(GeluTanh{});
    case Activation::gelu_erf:
      return f(GeluErf{});
    case Activation::silu:
      return f(Silu{});
    case Activation::squared_relu:
      return f(SquaredRelu{});
    case Activation::tanh:
      return f(Tanh{});
    case Activation::quick_gelu:
      return f(QuickGelu{});
    case Activation::sigmoid:
      return f(LogisticSigmoid{});
  }
}

}  // namespace mpitron::kernels::host
