#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mpitron {

/// One decoded character: its code point and its bytes (1 to 4; 0 where the text is not valid
/// UTF-8).
/// By value: decoding allocates nothing.
struct Utf8Char {
  std::uint32_t code_point = 0;
  int bytes = 0;
};

/// Decodes the character at the front of `text` by RFC 3629 (no overlong forms, no surrogates, at
/// most U+10FFFF).
Utf8Char decode_utf8(std::string_view text);

/// Whether a byte goes on with the character of the byte before it.
constexpr bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u;
}

/// The last character of a text that is not empty.
std::string_view last_character(std::string_view text);

/// Appends a code point as UTF-8.
/// Not checked: surrogates are encoded as they are.
void append_utf8(std::uint32_t code_point, std::string& text);

/// Whether all of `text` is valid UTF-8.
bool is_utf8(std::string_view text);

/// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string replace_invalid_utf8(std::string_view text);

/// Whether a terminal takes part of the text for a command: a control character other than a line
/// feed and a tabulator.
bool holds_controls(std::string_view text);

/// The text with each of those as U+FFFD, so that what stands in a file cannot move a cursor, set a
/// title or type at whoever reads it.
std::string without_controls(std::string_view text);

}  // namespace mpitron
