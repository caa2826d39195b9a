#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "utils/numbers/dtype.h"

namespace mpitron::io {

/// What array files may hold: more than the program computes with (`DType`).
enum class ElementType : std::uint8_t {
  boolean,
  u8,
  i8,
  f8_e4m3,
  f8_e5m2,
  u16,
  i16,
  f16,
  bf16,
  u32,
  i32,
  f32,
  u64,
  i64,
  f64
};

constexpr std::size_t size_of(ElementType type) {
  constexpr std::size_t kSizes[] = {1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 8, 8, 8};
  return kSizes[static_cast<std::size_t>(type)];
}

/// Names as safetensors writes them ("F32", "BOOL").
std::string_view safetensors_name(ElementType type);
std::optional<ElementType> from_safetensors_name(std::string_view name);

/// Names as numpy writes them ("<i4"); empty for types that numpy lacks.
std::string_view npy_name(ElementType type);
std::optional<ElementType> from_npy_name(std::string_view name);

ElementType element_type(DType dtype);
std::optional<DType> dtype_of(ElementType type);

template <class T>
constexpr ElementType element_type_of() {
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    return ElementType::u32;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return ElementType::u64;
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return ElementType::u8;
  } else if constexpr (std::is_same_v<T, std::int8_t>) {
    return ElementType::i8;
  } else if constexpr (std::is_same_v<T, std::uint16_t>) {
    return ElementType::u16;
  } else if constexpr (std::is_same_v<T, std::int16_t>) {
    return ElementType::i16;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return ElementType::i32;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return ElementType::i64;
  } else if constexpr (std::is_same_v<T, float>) {
    return ElementType::f32;
  } else {
    static_assert(std::is_same_v<T, double>, "no element type for this type");
    return ElementType::f64;
  }
}

}  // namespace mpitron::io
