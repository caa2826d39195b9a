#pragma once
#include <span>

#include "kernels/linear/packed_matmul.h"
#include "tests/kernels/workbench.h"

namespace mpitron::kernels {

inline constexpr WeightFormat kAllFormats[] = {WeightFormat::fp32, WeightFormat::bf16,
                                               WeightFormat::fp16, WeightFormat::int8,
                                               WeightFormat::q4};

/// Those that the tested device packs.
inline std::span<const WeightFormat> formats_under_test() {
  return kPacksNumbers ? std::span(kAllFormats) : std::span(kAllFormats).subspan(3);
}

/// A weight packed by the reference.
inline TestTensor packed_by_reference(const In& weight, WeightFormat format) {
  TestTensor packed(DType::u8, {packed_bytes(format, weight.size(0), weight.size(1))});
  device::ReferenceStream reference;
  run(reference, PackWeight{weight, packed.view(), format});
  return packed;
}

}  // namespace mpitron::kernels
