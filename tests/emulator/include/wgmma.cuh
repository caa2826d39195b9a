#pragma once
// The functions of kernels/cuda/native/wgmma.cuh for the emulator.
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "emulator/kernel_language.h"
#include "emulator/warpgroup_products.h"

namespace mpitron::kernels::cuda {

template <class T>
float wgmma_number(std::uint16_t bits) {
  return static_cast<float>(emulator::bits_as<T>(bits));
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
