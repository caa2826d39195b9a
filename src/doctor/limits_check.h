#pragma once
#include <optional>

#include "doctor/check_result.h"
#include "utils/shape.h"

namespace mpitron::doctor {

/// Soft limits of this process (`ulimit`); none: unlimited.
struct Limits {
  std::optional<Index> locked_memory;  // bytes
  std::optional<Index> open_files;
  std::optional<Index> core_bytes;
  std::optional<Index> address_space;  // bytes
};

Limits read_limits();

/// One result for each limit. `pins_memory`: the machine has InfiniBand or GPUs, whose drivers lock
/// memory; `memory_bytes`: of the machine, as much as each rank reserves of addresses (it touches
/// little of it).
std::vector<CheckResult> check_limits(const Limits& limits, bool pins_memory, Index memory_bytes);

}  // namespace mpitron::doctor
