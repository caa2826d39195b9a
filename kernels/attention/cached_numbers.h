#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>

#include "kernels/elementwise/stored_numbers.h"
#include "utils/numbers/dtype.h"
#include "utils/numbers/float8.h"
#include "utils/numbers/shape.h"

// How numbers of keys and values are stored in a cache. What is constexpr also runs on GPUs.
//
// In 8 bits a row, the key or value of one position and head, has a scale of its own. One scale for
// a block of positions would follow from whichever of them came first, or move the numbers of
// earlier ones when a larger one comes: an answer would then depend on how its prompt was cut.
// Scales are powers of two: numbers of e4m3 float, so a scale only decides where their range lies,
// and one that is no power of two would gain nothing but another rounding. So a scale is a byte,
// numbers that were read are exact in fp32, and a scale may be multiplied with a sum of products
// instead of each number.

namespace mpitron::kernels {

enum class CacheType : std::uint8_t { model, bf16, e4m3 };

struct CacheTypeFacts {
  CacheType type;
  const char* name;  // of --kv-cache-dtype
};
inline constexpr auto kCacheTypes = std::to_array<CacheTypeFacts>(
    {{CacheType::model, "auto"}, {CacheType::bf16, "bf16"}, {CacheType::e4m3, "fp8_e4m3"}});

/// Absent: no type has this name.
constexpr std::optional<CacheType> cache_type(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kCacheTypes, [&](const auto& each) { return name == each.name; });
  return found == kCacheTypes.end() ? std::nullopt : std::optional(found->type);
}

/// Tells how a cache of a model's numbers is stored; u8 stands for e4m3.
constexpr DType stored_dtype(CacheType type, DType model) {
  return type == CacheType::bf16 ? DType::bf16 : type == CacheType::e4m3 ? DType::u8 : model;
}
/// Bytes of a row, with its scale.
constexpr Index row_bytes(CacheType type, DType model, Index numbers) {
  return numbers * static_cast<Index>(size_of(stored_dtype(type, model))) +
         (type == CacheType::e4m3 ? 1 : 0);
}

/// A number of a row in 8 bits, without the row's scale: e4m3, which is taken for a 256th of what
/// it says. So its exponent is that of fp16, and reading it is a matter of shifts.
struct CachedByte {
  std::uint8_t bits;

  constexpr explicit operator float() const {
    const std::uint32_t sign = (bits & 0x80u) << 24, magnitude = (bits & 0x7fu) << 20;
    return std::bit_cast<float>(sign | magnitude) * 0x1p112f;  // bias 127 instead of 15
  }
};

/// Scale of a row that has a NaN: all its numbers are read as NaN.
inline constexpr std::uint8_t kNanScale = 255;

/// Returns the scale s of a row by its largest finite magnitude: its numbers are the row's bytes
/// times 2^(s - 127). The largest comes into (224, 448]; beyond 448 2^119 all are cut to that.
constexpr std::uint8_t cached_scale(float largest) {
  const float to_range = fp8_scale(largest, {.format = Fp8Format::e4m3, .power_of_two = true});
  const std::uint32_t scale = 262 - (std::bit_cast<std::uint32_t>(to_range) >> 23);
  return static_cast<std::uint8_t>(scale < kNanScale ? scale : kNanScale - 1u);
}
/// What a row's bytes are multiplied with when they are read.
constexpr float cached_factor(std::uint8_t scale) {
  return std::bit_cast<float>(scale == kNanScale ? 0x7fc00000u : std::uint32_t{scale} << 23);
}
/// What a row's numbers are multiplied with before `cached_byte` rounds them.
constexpr float to_cached_range(std::uint8_t scale) {
  return std::bit_cast<float>((262u - scale) << 23);
}
/// Rounds to nearest even; infinities, and what else is beyond the range, become its end.
constexpr CachedByte cached_byte(float in_range) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(in_range);
  const std::uint32_t magnitude = bits & 0x7fffffffu, most = std::bit_cast<std::uint32_t>(448.F);
  const std::uint32_t cut = (bits & 0x80000000u) | (magnitude < most ? magnitude : most);
  return {stored::e4m3_of(std::bit_cast<float>(cut))};
}

/// The largest finite magnitude of a row and the largest of all, as bits: they have the order of
/// magnitudes, infinity and NaN.
struct RowRange {
  static constexpr std::uint32_t kInfinity = 0x7f800000u;
  std::uint32_t finite = 0, all = 0;

  constexpr void add(float x) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x) & 0x7fffffffu;
    const std::uint32_t if_finite = magnitude < kInfinity ? magnitude : 0u;
    finite = finite < if_finite ? if_finite : finite;
    all = all < magnitude ? magnitude : all;
  }
  constexpr std::uint8_t scale() const {
    return all > kInfinity ? kNanScale : cached_scale(std::bit_cast<float>(finite));
  }
};

}  // namespace mpitron::kernels
