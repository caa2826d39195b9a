#pragma once
// The functions of kernels/cuda/native/intrinsics.cuh for the emulator.
#include "emulator/grid.h"

namespace mpitron::kernels::cuda {

template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(emulator::dynamic_shared_memory());
}

}  // namespace mpitron::kernels::cuda
