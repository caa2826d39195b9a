#include "kernels/reference/common/elements.h"

#include <bit>

namespace mpitron::kernels::reference {

/// Double to float so that a second rounding to half precision is as if there had been none.
float round_to_odd(double value) {
  auto rounded = static_cast<float>(value);
  if (static_cast<double>(rounded) == value || std::isnan(value)) {
    return rounded;
  }
  if (std::fabs(static_cast<double>(rounded)) > std::fabs(value)) {
    rounded = std::nextafter(rounded, 0.f);
  }
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(rounded) | 1u);
}

/// Every type as double, which holds it exactly.
double load_element(const void* data, DType dtype, Index offset) {
  const auto at = [&]<class T>() { return static_cast<const T*>(data)[offset]; };
  switch (dtype) {
    case DType::f32:
      return at.operator()<float>();
    case DType::f64:
      return at.operator()<double>();
    case DType::bf16:
      return static_cast<float>(at.operator()<BFloat16>());
    case DType::f16:
      return static_cast<float>(at.operator()<Float16>());
    case DType::u8:
      return at.operator()<std::uint8_t>();
    case DType::i32:
      return at.operator()<std::int32_t>();
    case DType::i64:
      return static_cast<double>(at.operator()<std::int64_t>());
    default:
      MPITRON_CHECK(false, name_of(dtype));
      return 0;
  }
}

/// Rounds once, to nearest even, from double.
void store_element(void* data, DType dtype, Index offset, double value) {
  const auto at = [&]<class T>() -> T& { return static_cast<T*>(data)[offset]; };
  switch (dtype) {
    case DType::f32:
      at.operator()<float>() = static_cast<float>(value);
      break;
    case DType::f64:
      at.operator()<double>() = value;
      break;
    case DType::bf16:
      at.operator()<BFloat16>() = BFloat16(round_to_odd(value));
      break;
    case DType::f16:
      at.operator()<Float16>() = Float16(round_to_odd(value));
      break;
    case DType::u8:
      at.operator()<std::uint8_t>() = static_cast<std::uint8_t>(value);
      break;
    case DType::i32:
      at.operator()<std::int32_t>() = static_cast<std::int32_t>(value);
      break;
    case DType::i64:
      at.operator()<std::int64_t>() = static_cast<std::int64_t>(value);
      break;
    default:
      MPITRON_CHECK(false, name_of(dtype));
  }
}

}  // namespace mpitron::kernels::reference
