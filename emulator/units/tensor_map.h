#pragma once
#include <cstdint>

#include <cuda.h>

namespace mpitron::emulator {

/// What the emulator keeps in a CUtensorMap: a tensor of 16-bit elements, whose boxes are copied to
/// rows of 128 bytes with exchanged chunks (CU_TENSOR_MAP_SWIZZLE_128B). Dimensions go from the
/// innermost, whose stride is one element.
struct TensorMap {
  static constexpr int kRank = 5;
  static constexpr std::uint64_t kMark = 0x70616d20726f736e;

  std::uint64_t mark, data;
  std::uint64_t size[kRank], stride[kRank - 1];  // strides in bytes
  std::uint32_t box[kRank];
};
static_assert(sizeof(TensorMap) <= sizeof(CUtensorMap));

}  // namespace mpitron::emulator
