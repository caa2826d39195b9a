#pragma once
#include <algorithm>
#include <cmath>

namespace mpitron::kernels {

/// log(1 + e^x) in T, without an overflow.
template <class T>
T softplus(T x) {
  return std::max(x, T{}) + std::log1p(std::exp(-std::abs(x)));
}

}  // namespace mpitron::kernels
