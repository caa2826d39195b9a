#pragma once
#include "kernels/cuda/vector.cuh"

namespace mpitron::kernels::cuda {

/// Elements whose type is looked at on the GPU: for mixtures of types that are rare.
template <class Pointer>
struct AnyElements {
  Pointer data;
  DType dtype;
  Index first = 0;

  __device__ AnyElements operator+(Index i) const { return {data, dtype, first + i}; }
};
using AnyInput = AnyElements<const void*>;
using AnyOutput = AnyElements<void*>;

template <int N>
__device__ Floats<N> load(const AnyInput& x, Width<N> width) {
  switch (x.dtype) {
    case DType::bf16:
      return load(static_cast<const __nv_bfloat16*>(x.data) + x.first, width);
    case DType::f16:
      return load(static_cast<const __half*>(x.data) + x.first, width);
    default:
      return load(static_cast<const float*>(x.data) + x.first, width);
  }
}

/// Rounds once.
template <int N>
__device__ void store(const AnyOutput& y, const Floats<N>& value) {
  switch (y.dtype) {
    case DType::bf16:
      return store(static_cast<__nv_bfloat16*>(y.data) + y.first, value);
    case DType::f16:
      return store(static_cast<__half*>(y.data) + y.first, value);
    default:
      return store(static_cast<float*>(y.data) + y.first, value);
  }
}

}  // namespace mpitron::kernels::cuda
