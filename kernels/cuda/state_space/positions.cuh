#pragma once
#include "kernels/cuda/common/vector.cuh"

namespace mpitron::kernels::cuda {

/// Rows of samples, [s, b, w] with a contiguous last dimension.
template <class T>
struct Positions {
  T* data;
  Index stride_s, stride_b;
  bool packed;  // every row begins where packs may

  template <class View>
  explicit Positions(const View& view)
      : data(elements<std::remove_const_t<T>>(view)),
        stride_s(view.stride(0)),
        stride_b(view.stride(1)),
        packed(packs_fit(data) && fits_packs(stride_s) && fits_packs(stride_b)) {
    MPITRON_CHECK(view.size(2) <= 1 || view.stride(2) == 1, view.stride(2));
  }
  __device__ T* at(Index position, Index sample) const {
    return data + position * stride_s + sample * stride_b;
  }

 private:
  static bool fits_packs(Index stride) {
    return stride * static_cast<Index>(sizeof(T)) % static_cast<Index>(sizeof(Word<T, kPack>)) == 0;
  }
};

}  // namespace mpitron::kernels::cuda
