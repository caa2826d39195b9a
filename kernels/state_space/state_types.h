#pragma once
#include <array>
#include <optional>
#include <string_view>

#include "utils/numbers/dtype.h"

namespace mpitron::kernels {

/// In which types generation keeps what layers carry from position to position
/// (cached_recurrence.h).
struct StateTypes {
  std::optional<DType> conv;        // inputs of a convolution; absent: their own type, the model's
  std::optional<DType> recurrence;  // state of a scan or of a delta rule; absent: fp32

  /// Returns the type of a convolution's state whose inputs have type `inputs`.
  DType of_conv(DType inputs) const { return conv.value_or(inputs); }
  DType of_recurrence() const { return recurrence.value_or(DType::f32); }
};

/// Types that states may be kept in, by their names.
inline constexpr std::array kStateTypes = {DType::bf16, DType::f16, DType::f32};

/// Absent for every other name, as `auto`.
constexpr std::optional<DType> state_type(std::string_view name) {
  for (const DType type : kStateTypes) {
    if (name == name_of(type)) {
      return type;
    }
  }
  return std::nullopt;
}

}  // namespace mpitron::kernels
