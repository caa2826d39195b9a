#pragma once
#include "kernels/cuda/any_elements.cuh"

namespace mpitron::kernels::cuda {

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
