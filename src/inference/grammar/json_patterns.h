#pragma once
#include <optional>
#include <string>

#include "inference/grammar/code_points.h"

namespace mpitron::inference {

/// Parts of JSON texts. White space, where JSON allows it, is nothing, a blank, or a new line with
/// at most 40 blanks: never without end.
Pattern json_space();
/// A character of a string as JSON writes it: as it is, or behind a backslash where it has to be.
/// `set`: which ones.
Pattern json_characters(const CodePoints& set);
/// Any character of a string, also by escapes that need not be.
Pattern json_character();
/// `"`, what `inside` allows, `"`.
Pattern json_string(Pattern inside);
/// Any string but these texts, also where the string begins like one of them.
Pattern json_string_except(std::vector<std::string> texts);
Pattern json_integer();
Pattern json_number();

/// Integers from `least` to `most`; unset: without limit.
Pattern json_integer_range(std::optional<std::int64_t> least, std::optional<std::int64_t> most);

struct NumberBound {
  std::int64_t value;
  bool open = false;  // the value itself is outside
};
/// Numbers without exponent between bounds.
Pattern json_number_range(std::optional<NumberBound> least, std::optional<NumberBound> most);

/// `{ ... }` and `[ ... ]` around what stands between, with space at both ends.
Pattern json_brackets(char open, Pattern inside, char close);
/// A comma, or the colon behind a key, and space.
Pattern json_comma();
Pattern json_pair(Pattern key, Pattern value);

/// Any value; `value` is the number of the rule that this pattern becomes.
Pattern json_value(std::size_t value);
Pattern json_object(std::size_t value);

/// One byte.
Pattern byte(char c);

/// One of some ASCII characters.
Pattern any_of(std::string_view characters);

}  // namespace mpitron::inference
