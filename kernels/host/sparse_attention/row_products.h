#pragma once
#include "kernels/host/common/views.h"

namespace mpitron::kernels::host {

/// a . b over n numbers, in fp32.
template <class T>
float dot(const T* a, const T* b, Index n) {
  const auto [sum] = simd::row_sums<1>(n, [&](Index c, auto lanes, auto& sums) {
    sums[0] = simd::fma(simd::load(a + c, lanes), simd::load(b + c, lanes), sums[0]);
  });
  return sum;
}

/// sum += factor x.
template <class T>
void add_multiple(float* sum, float factor, const T* x, Index n) {
  simd::for_lanes(n, [&](Index c, auto lanes) {
    const simd::Float before = simd::load(sum + c, lanes);
    simd::store(sum + c, simd::fma(simd::splat(factor), simd::load(x + c, lanes), before), lanes);
  });
}

}  // namespace mpitron::kernels::host
