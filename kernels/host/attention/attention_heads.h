#pragma once
#include "kernels/host/attention/attention_problem.h"

namespace mpitron::kernels::host::attention {

inline constexpr float kLog2e = 1.44269504f;

/// Calls f(head size or 0, dropout) with the constants that the problem's code is compiled for:
/// sizes 64 and 128 of fp32 and bf16 are.
template <class T, class F>
void with_head_kind(const Problem<T>& problem, F&& f) {
  const auto with_size = [&](auto size) {
    if (problem.dropout.active()) {
      f(size, std::true_type{});
    } else {
      f(size, std::false_type{});
    }
  };
  if constexpr (!std::is_same_v<T, Float16>) {
    if (problem.d == 64 && problem.dv == 64) {
      return with_size(std::integral_constant<int, 64>{});
    }
    if (problem.d == 128 && problem.dv == 128) {
      return with_size(std::integral_constant<int, 128>{});
    }
  }
  with_size(std::integral_constant<int, 0>{});
}

}  // namespace mpitron::kernels::host::attention
