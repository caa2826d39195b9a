#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "utils/check.h"
#include "utils/numbers/float16.h"

namespace mpitron {

enum class DType : std::uint8_t { f32, bf16, f16, f64, u8, i8, u16, i16, i32, i64 };

constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::u8:
    case DType::i8:
      return 1;
    case DType::bf16:
    case DType::f16:
    case DType::u16:
    case DType::i16:
      return 2;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::f64:
    case DType::i64:
      return 8;
  }
  return 0;
}

constexpr const char* name_of(DType dtype) {
  constexpr const char* kNames[] = {"fp32", "bf16", "fp16", "fp64", "u8",
                                    "i8",   "u16",  "i16",  "i32",  "i64"};
  return kNames[static_cast<int>(dtype)];
}

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) {
    return DType::f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::f64;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return DType::bf16;
  } else if constexpr (std::is_same_v<T, Float16>) {
    return DType::f16;
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return DType::u8;
  } else if constexpr (std::is_same_v<T, std::int8_t>) {
    return DType::i8;
  } else if constexpr (std::is_same_v<T, std::uint16_t>) {
    return DType::u16;
  } else if constexpr (std::is_same_v<T, std::int16_t>) {
    return DType::i16;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return DType::i32;
  } else {
    static_assert(std::is_same_v<T, std::int64_t>, "no DType for this type");
    return DType::i64;
  }
}

constexpr bool is_floating(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16 || dtype == DType::f64;
}

/// Calls f.operator()<T>() with the storage type of a training dtype: float, BFloat16 or Float16.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
      return f.template operator()<float>();
    case DType::bf16:
      return f.template operator()<BFloat16>();
    case DType::f16:
      return f.template operator()<Float16>();
    default:
      detail::check_failed("dtype is fp32, bf16 or fp16", __FILE__, __LINE__, name_of(dtype));
  }
}

}  // namespace mpitron
