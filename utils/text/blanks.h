#pragma once
#include <algorithm>
#include <string_view>

namespace mpitron {

/// What isspace() holds for in C, and what Python's bytes.strip() takes away.
inline constexpr std::string_view kBlanks = " \t\n\v\f\r";
/// What Python's str.strip() takes away of ASCII: separators of files, groups and records as well.
inline constexpr std::string_view kTextBlanks = " \t\n\v\f\r\x1c\x1d\x1e\x1f";

/// Without blanks at its beginning.
inline std::string_view from_first_word(std::string_view text, std::string_view blanks = kBlanks) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text;
}

/// Without blanks at both ends.
inline std::string_view stripped(std::string_view text, std::string_view blanks = kBlanks) {
  text = from_first_word(text, blanks);
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

}  // namespace mpitron
