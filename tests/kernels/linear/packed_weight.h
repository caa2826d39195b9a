#pragma once
#include "kernels/linear/packed_matmul.h"
#include "tests/kernels/workbench.h"

namespace mpitron::kernels {

inline constexpr WeightFormat kAllFormats[] = {WeightFormat::fp32, WeightFormat::bf16,
                                               WeightFormat::fp16, WeightFormat::int8,
                                               WeightFormat::q4};

/// A weight packed by the reference.
inline std::vector<std::uint8_t> packed_by_reference(const In& weight, WeightFormat format) {
  const Index bytes = packed_bytes(format, weight.size(0), weight.size(1));
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(bytes));
  device::ReferenceStream reference;
  run(reference, PackWeight{weight, device::TensorView(packed.data(), DType::u8, {bytes}), format});
  return packed;
}

}  // namespace mpitron::kernels
