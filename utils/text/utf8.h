#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mpitron {

/// One decoded character: its code point and its bytes (1 to 4; 0 where the text is not valid
/// UTF-8).
struct Utf8Char {
  std::uint32_t code_point = 0;
  int bytes = 0;
};

/// Decodes the character at the front of `text` by RFC 3629 (no overlong forms, no surrogates, at
/// most U+10FFFF).
Utf8Char decode_utf8(std::string_view text);

/// Appends a code point as UTF-8.
void append_utf8(std::uint32_t code_point, std::string& text);

/// Whether all of `text` is valid UTF-8.
bool is_utf8(std::string_view text);

/// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

}  // namespace mpitron
