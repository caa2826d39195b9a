#pragma once
#include "kernels/cuda/common/any_elements.cuh"
#include "kernels/cuda/common/vector.cuh"

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

/// Loads numbers of a type that is known at run time, by a switch for each pack: so there need not
/// be a kernel for each combination of types.
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

/// A flat array whose type (fp32, bf16, fp16) is known at run time: for kernels of many arrays that
/// wait for memory, where a kernel for every combination of types would gain nothing.
struct Numbers {
  void* data = nullptr;  // null: absent
  DType dtype = DType::f32;

  Numbers() = default;
  Numbers(const device::TensorView& view)  // NOLINT(google-explicit-constructor): the same array
      : Numbers(view.data, view) {}
  Numbers(const device::ConstTensorView& view)  // NOLINT(google-explicit-constructor)
      : Numbers(const_cast<void*>(view.data), view) {}

  bool fits_packs() const { return reinterpret_cast<std::uintptr_t>(data) % sizeof(uint4) == 0; }

  template <int N>
  __device__ Floats<N> load(Index i, Width<N> width) const {
    return cuda::load(AnyInput{data, dtype, i}, width);
  }
  template <int N>
  __device__ void store(Index i, const Floats<N>& x) const {
    cuda::store(AnyOutput{data, dtype, i}, x);
  }

 private:
  template <class View>
  Numbers(void* data_, const View& view) : data(data_), dtype(view.dtype) {
    MPITRON_CHECK(!view || view.contiguous(), to_string(view.shape));
    MPITRON_CHECK(!view || dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16,
                  name_of(dtype));
  }
};

}  // namespace mpitron::kernels::cuda
