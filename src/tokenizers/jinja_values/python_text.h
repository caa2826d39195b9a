#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::tokenizers::jinja {

// Python's functions of str, on valid UTF-8: positions and sizes count characters.

/// Return the bytes of the white space, or of the letter, digit or underscore, at the front; 0
/// where there is none.
std::size_t space_at(std::string_view text);
std::size_t word_at(std::string_view text);

/// Strips white space, or the characters of `set`, off the ends.
std::string_view strip_left(std::string_view text, std::optional<std::string_view> set = {});
std::string_view strip_right(std::string_view text, std::optional<std::string_view> set = {});
inline std::string_view strip(std::string_view text, std::optional<std::string_view> set = {}) {
  return strip_left(strip_right(text, set), set);
}

/// Splits at `separator`, or where it is unset at runs of white space; at most `most` times, unless
/// that is negative, from the left or from the right.
std::vector<std::string_view> split(std::string_view text,
                                    std::optional<std::string_view> separator, std::int64_t most,
                                    bool from_right = false);
/// Splits at line ends, which stay where `keeps_ends`.
std::vector<std::string_view> split_lines(std::string_view text, bool keeps_ends);
/// Replaces `from` by `to`, at most `most` times unless that is negative.
std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     std::int64_t most);

/// Returns the number of characters: Python's len().
std::int64_t characters(std::string_view text);
/// Returns the bytes before the character at a position, at most all.
std::size_t byte_of(std::string_view text, std::int64_t position);

/// Writes the first character in title case and all others in lower case.
std::string capitalized(std::string_view text);

/// Returns the text that a literal between its quotes stands for; nothing for an escape that is not
/// known.
std::optional<std::string> unescape(std::string_view text);
/// Return repr() of a text, and of a number with a point.
std::string literal_of(std::string_view text);
std::string decimal(double value);

/// Returns whether str.isspace counts the character as white space.
bool is_space(std::uint32_t c);

}  // namespace mpitron::tokenizers::jinja
