#pragma once
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::launch {

/// "0-3,8" of rising numbers.
std::string ranges(const std::vector<Index>& numbers);

/// "node[01-16,18],login" of names, as Slurm writes lists of hosts: neighbours in the list that
/// differ in their last number alone are joined.
std::string name_ranges(const std::vector<std::string>& names);

}  // namespace mpitron::launch
