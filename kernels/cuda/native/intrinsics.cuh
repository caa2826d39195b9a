#pragma once
// What CUDA C++ cannot say without PTX, one function each. tests/emulator/include holds functions
// of the same names for the emulator; the include path chooses.

namespace mpitron::kernels::cuda {

/// The block's dynamic shared memory, aligned to 128 bytes.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char dynamic_shared_bytes[];
  return reinterpret_cast<T*>(dynamic_shared_bytes);
}

}  // namespace mpitron::kernels::cuda
