#pragma once
#include <cmath>

#include "kernels/linear/matmul.h"

// The formulas of activation.h and their derivatives, in float or double. Where a formula
// has 1 + tanh or 1 + erf, the form below keeps the precision of the left tail.

namespace mpitron::kernels::cuda {

inline __device__ double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
/// Divides approximately (2 ulp), which is faster than an exact division.
inline __device__ float sigmoid(float x) {
  return __fdividef(1.f, 1.f + std::exp(-x));
}

/// Returns 2 u = 2 sqrt(2 / pi) (x + 0.044715 x^3): 0.5 (1 + tanh(u)) is sigmoid(2 u).
template <class T>
__device__ T gelu_exponent(T x) {
  return T(1.5957691216057308) * x * (T(1) + T(0.044715) * x * x);
}

/// Computes the normal distribution function; erfc keeps the precision of the left tail.
template <class T>
__device__ T normal_cdf(T x) {
  return T(0.5) * std::erfc(T(-0.7071067811865476) * x);
}

/// activate and activation_slope switch on a constant where kernels are compiled for one
/// activation, so the other cases vanish.
template <class T>
__device__ T activate(Activation activation, T x) {
  switch (activation) {
    case Activation::gelu_tanh:
      return x * sigmoid(gelu_exponent(x));
    case Activation::gelu_erf:
      return x * normal_cdf(x);
    case Activation::silu:
      return x * sigmoid(x);
    case Activation::squared_relu:
      return x <= T(0) ? T(0) : x * x;  // NaN stays NaN
    case Activation::tanh:
      return std::tanh(x);
    case Activation::quick_gelu:
      return x * sigmoid(T(1.702) * x);
    case Activation::sigmoid:
      return sigmoid(x);
    case Activation::none:
      break;
  }
  return x;
}

template <class T>
__device__ T activation_slope(Activation activation, T x) {
  switch (activation) {
    case Activation::gelu_tanh: {
      const T u = gelu_exponent(x), s = sigmoid(u);  // 1 - s would lose its digits
      return s + x * s * sigmoid(-u) * T(1.5957691216057308) * (T(1) + T(0.134145) * x * x);
    }
    case Activation::gelu_erf:
      return normal_cdf(x) + x * T(0.3989422804014327) * std::exp(T(-0.5) * x * x);
    case Activation::silu: {
      const T s = sigmoid(x);
      return s + x * s * (T(1) - s);
    }
    case Activation::squared_relu:
      return x <= T(0) ? T(0) : T(2) * x;
    case Activation::tanh: {
      const T y = std::tanh(x);
      return T(1) - y * y;
    }
    case Activation::quick_gelu: {
      const T s = sigmoid(T(1.702) * x);
      return s + T(1.702) * x * s * (T(1) - s);
    }
    case Activation::sigmoid:
      return sigmoid(x) * sigmoid(-x);
    case Activation::none:
      break;
  }
  return T(1);
}

}  // namespace mpitron::kernels::cuda
