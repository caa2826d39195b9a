#pragma once

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// Value of --no-rope-freq and --moe-layer-freq: a number, or one entry per layer.
struct Frequency {
  bool is_list = false;
  Index number = 0;
  std::vector<Index> entries;
};

/// Longest list an expression may make.
inline constexpr Index kMaxListEntries = 100000;

/// Reads an integer or a list in Python's notation: sums and products of integers and lists of
/// integers, such as `([1]*3+[0]*1)*3`. Throws Error(usage) with the column of the mistake.
Frequency parse_list_expression(std::string_view text);

using NumberPattern = std::map<std::string, double>;

/// Returns the words between commas; no empty ones.
std::vector<std::string> comma_list(std::string_view text);

/// Reads `A-B` or `A`; nothing for anything else, and for the empty text.
std::optional<std::pair<Index, Index>> layer_range(std::string_view text);

/// Reads `name=number,name=number`; nothing for anything else.
std::optional<NumberPattern> number_pattern(std::string_view text);

/// Reads a whole text as a number; nothing where more or less stands in it.
template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace mpitron::config
