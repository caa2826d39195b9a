#pragma once
// Implements the functions of kernels/cuda/native/wgmma.cuh for the emulator.
#include <cstdint>
#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "emulator/units/kernel_language.h"
#include "emulator/units/warpgroup_products.h"

namespace mpitron::kernels::cuda {

template <class T>
float wgmma_number(std::uint16_t bits) {
  if constexpr (std::is_same_v<T, __half>) {
    return __half2float(__ushort_as_half(bits));
  } else {
    return __bfloat162float(__ushort_as_bfloat16(bits));
  }
}

template <int N, class T>
void wgmma(float (&d)[N][4], std::uint64_t a, std::uint64_t b, bool add, T) {
  emulator::WarpgroupProduct product{d[0], nullptr, a, b, 8 * N, add, false, wgmma_number<T>};
  emulator::begin_product(product);
}

template <int N, class T>
void wgmma_transposed(float (&d)[N][4], const std::uint32_t (&a)[4], std::uint64_t b, bool add, T) {
  emulator::WarpgroupProduct product{d[0], a, 0, b, 8 * N, add, true, wgmma_number<T>};
  emulator::begin_product(product);
}

}  // namespace mpitron::kernels::cuda
