#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "utils/numbers/dtype.h"
#include "utils/numbers/shape.h"

// How weights are stored for generation: packed once, read often.
//
// Output features lie side by side in blocks of sixteen; the last block is filled up with zeros,
// and so is the input dimension k up to a multiple of the format's step. With K the result and f a
// feature of the block, a block is
//   fp32, fp16: [K][f], numbers
//   bf16:       [K/2][f][2], numbers
//   int8:       [K/4][f][4], bytes q + 128, then [f] scales in fp32: weight = scale q
//   q4:         [K/32][4][f][4], bytes, then [K/32][f] scales in fp16: weight = scale (q - 8);
//               byte j of row i of 32 inputs has q of input 4 i + j in its low half and q of input
//               16 + 4 i + j in its high half

namespace mpitron::kernels {

enum class WeightFormat : std::uint8_t { fp32, bf16, fp16, int8, q4 };

struct WeightFormatFacts {
  const char* name;
  Index step;   // the input dimension is filled up to a multiple of it
  Index group;  // inputs that share a scale where they are rounded to 8 bits; 0: they are not
  Index bits;   // of a weight, without scales
};

inline constexpr auto kWeightFormats = std::to_array<WeightFormatFacts>({
    {"fp32", 1, 0, 32},
    {"bf16", 32, 0, 16},
    {"fp16", 1, 0, 16},
    {"int8", 64, 256, 8},
    {"q4", 32, 32, 4},
});

constexpr const WeightFormatFacts& facts(WeightFormat format) {
  return kWeightFormats[static_cast<std::size_t>(format)];
}
/// Absent: no format has this name.
constexpr std::optional<WeightFormat> weight_format(std::string_view name) {
  for (std::size_t i = 0; i < kWeightFormats.size(); ++i) {
    if (name == kWeightFormats[i].name) {
      return static_cast<WeightFormat>(i);
    }
  }
  return std::nullopt;
}
/// The format that holds all numbers of a model's type: fp32, bf16 or fp16.
constexpr WeightFormat weight_format(DType type) {
  return type == DType::bf16  ? WeightFormat::bf16
         : type == DType::f16 ? WeightFormat::fp16
                              : WeightFormat::fp32;
}

/// Output features that lie side by side.
inline constexpr Index kPackedColumns = 16;

constexpr Index packed_blocks(Index n) {
  return (n + kPackedColumns - 1) / kPackedColumns;
}
/// K of the layouts above.
constexpr Index packed_inputs(WeightFormat format, Index k) {
  const Index step = facts(format).step;
  return (k + step - 1) / step * step;
}
/// Bytes of a block's weights, which begin it.
constexpr Index packed_weight_bytes(WeightFormat format, Index k) {
  return packed_inputs(format, k) * kPackedColumns * facts(format).bits / 8;
}
constexpr Index packed_block_bytes(WeightFormat format, Index k) {
  const Index scales = format == WeightFormat::int8 ? kPackedColumns * 4
                       : format == WeightFormat::q4 ? packed_inputs(format, k) / 32 * 32
                                                    : 0;
  return packed_weight_bytes(format, k) + scales;
}
/// Bytes of a packed weight [n, k].
constexpr Index packed_bytes(WeightFormat format, Index n, Index k) {
  return packed_blocks(n) * packed_block_bytes(format, k);
}

// Rounding to integers, the same on every device. A number is divided by its group's scale by
// multiplication with the reciprocal, in fp32, and rounded to nearest even.

/// Scale of inputs and of int8 weights whose largest magnitude is given; 0: all are zero.
inline float scale_of_8_bits(float largest) {
  return largest / 127.F;
}
/// Scale of 32 weights of which `extreme` has the largest magnitude, as fp16 has it.
inline Float16 scale_of_4_bits(float extreme) {
  return Float16(extreme / -8.F);
}
constexpr float reciprocal_of(float scale) {
  return scale != 0 ? 1.F / scale : 0.F;
}
inline int rounded_8_bits(float value, float reciprocal) {
  return static_cast<int>(std::clamp(std::nearbyint(value * reciprocal), -127.F, 127.F));
}
/// 0 .. 15, 8 stands for 0.
inline int rounded_4_bits(float value, float reciprocal) {
  return static_cast<int>(std::clamp(std::nearbyint(value * reciprocal), -8.F, 7.F)) + 8;
}

}  // namespace mpitron::kernels
