#pragma once
#include <algorithm>
#include <string_view>

namespace mpitron {

/// What Python's str.strip() takes away of ASCII.
inline constexpr std::string_view kBlanks = " \t\n\v\f\r";

/// Without blanks at its beginning.
inline std::string_view from_first_word(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text;
}

/// Without blanks at both ends.
inline std::string_view stripped(std::string_view text) {
  text = from_first_word(text);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

}  // namespace mpitron
