#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launch/rank_place.h"

// Names of nodes, and ranges of them.

namespace mpitron::launch {
namespace {

/// "node07" is "node", 7 with two digits.
struct NumberedName {
  std::string stem;
  std::size_t digits = 0;
  Index number = 0;
};

NumberedName take_apart(const std::string& name) {
  constexpr std::size_t kMostDigits = 18;  // of an Index
  std::size_t digits = 0;
  while (digits < std::min(name.size(), kMostDigits) && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9') {
    ++digits;
  }
  const std::size_t stem = name.size() - digits;
  return {name.substr(0, stem), digits, digits > 0 ? std::stoll(name.substr(stem)) : 0};
}

}  // namespace

std::string name_ranges(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; begin < names.size(); begin = end) {
    const NumberedName first = take_apart(names[begin]);
    std::vector<Index> numbers = {first.number};
    for (end = begin + 1; end < names.size(); ++end) {
      const NumberedName next = take_apart(names[end]);
      if (first.digits == 0 || next.stem != first.stem || next.digits != first.digits) {
        break;
      }
      numbers.push_back(next.number);
    }
    parts.push_back(numbers.size() == 1
                        ? names[begin]
                        : fmt::format("{}[{}]", first.stem, join_runs(numbers, first.digits)));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace mpitron::launch
