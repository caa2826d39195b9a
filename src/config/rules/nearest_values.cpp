#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"

// The legal settings nearest to a wrong number.

namespace mpitron::config {
namespace {

/// Writes "--x 4 | --x 8": sorted, each value once.
std::string alternatives(std::string_view option, std::vector<Index> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<std::string> out;
  for (const Index value : values) {
    out.push_back(fmt::format("--{} {}", option, value));
  }
  return fmt::format("{}", fmt::join(out, " | "));
}

}  // namespace

/// Leaves divisors that are not positive to a rule of their own.
std::optional<Violation> divides(Index value, Index divisor, const std::string& nearest) {
  if (divisor <= 0 || value % divisor == 0) {
    return {};
  }
  return Violation{fmt::format("{} % {} = {}", value, divisor, value % divisor), nearest};
}

std::string given_of(const Facts& f, std::span<const char* const> dests) {
  std::vector<std::string> given;
  for (const char* dest : dests) {
    if (f.values.given(dest)) {
      given.emplace_back(dest);
    }
  }
  return fmt::format("{}", fmt::join(given, ", "));
}

/// Writes the multiples of `unit` around `value` as flags.
std::string nearest_multiples(std::string_view option, Index value, Index unit) {
  if (unit <= 0) {
    return "";
  }
  const Index below = value / unit * unit;
  return below > 0 ? alternatives(option, {below, below + unit}) : alternatives(option, {unit});
}

/// Finds the divisors of `value` around `wanted`, in pairs so that a huge value takes no time. One
/// more than sixteen times as large is no neighbour.
std::string nearest_divisors(std::string_view option, Index value, Index wanted) {
  if (value <= 0) {
    return "";
  }
  std::optional<Index> below, above;
  for (Index small = 1; small <= value / small; ++small) {  // pairs of divisors
    if (value % small != 0) {
      continue;
    }
    for (const Index d : {small, value / small}) {
      if (d <= wanted) {
        below = std::max(below.value_or(d), d);
      } else if ((d - 1) / 16 < wanted) {
        above = std::min(above.value_or(d), d);
      }
    }
  }
  std::vector<Index> near;
  for (const std::optional<Index>& found : {below, above}) {
    if (found) {
      near.push_back(*found);
    }
  }
  return alternatives(option, near);
}

/// Looks so far and no farther, so that sizes without a neighbour take no time.
std::string nearest_legal(std::string_view option, Index wanted,
                          const std::function<bool(Index)>& legal) {
  constexpr Index kMost = 4096;
  std::vector<Index> near;
  for (const Index step : {Index{-1}, Index{1}}) {
    for (Index away = 1; away <= kMost && wanted + step * away > 0; ++away) {
      if (legal(wanted + step * away)) {
        near.push_back(wanted + step * away);
        break;
      }
    }
  }
  return alternatives(option, near);
}

}  // namespace mpitron::config
