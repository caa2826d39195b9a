#include "tokenizers/jinja_values/python_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "tokenizers/text/unicode_text.h"
#include "utils/text/utf8.h"

// Functions of Python's str on UTF-8 texts. Positions count characters, found by skipping
// continuation bytes; classes of characters are those of the Unicode tables.

namespace mpitron::tokenizers::jinja {
namespace {

/// Python counts the four separators U+001C to U+001F as white space, Unicode's property does not.
bool is_space(std::uint32_t c) {
  return is_white_space(c) || (c >= 0x1C && c <= 0x1F);
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
}

/// Returns the last character of a text that is not empty.
std::string_view last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && is_continuation(text[at])) {
    --at;
  }
  return text.substr(at);
}

/// Returns whether `strip` removes this character: one of the set, or white space without one.
bool strips(std::string_view character, std::optional<std::string_view> set) {
  return set ? set->find(character) != std::string_view::npos : space_at(character) > 0;
}

/// Cuts at runs of white space; parts come in the order in which they are cut off.
std::vector<std::string_view> split_at_spaces(std::string_view text, std::int64_t most,
                                              bool from_right) {
  std::vector<std::string_view> parts;
  for (text = strip(text); !text.empty();) {
    if (most >= 0 && static_cast<std::int64_t>(parts.size()) >= most) {
      parts.push_back(text);
      break;
    }
    std::size_t end = from_right ? text.size() : 0;
    if (from_right) {
      while (end > 0 && space_at(last_character(text.substr(0, end))) == 0) {
        end -= last_character(text.substr(0, end)).size();
      }
      parts.push_back(text.substr(end));
      text = strip_right(text.substr(0, end));
    } else {
      while (end < text.size() && space_at(text.substr(end)) == 0) {
        end += static_cast<std::size_t>(std::max(1, decode_utf8(text.substr(end)).bytes));
      }
      parts.push_back(text.substr(0, end));
      text = strip_left(text.substr(end));
    }
  }
  return parts;
}

/// Approximates str.isprintable, by which repr decides what it escapes.
bool is_printable(std::uint32_t c) {
  return c == ' ' || !(is_other(c) || is_space(c));
}

/// Reads up to `most` digits of a base at the front; returns their value, and how many there are.
std::pair<std::uint32_t, std::size_t> digits(std::string_view text, int base, std::size_t most) {
  std::uint32_t value = 0;
  const char* const end = text.data() + std::min(most, text.size());
  const auto read = std::from_chars(text.data(), end, value, base);
  return {value, static_cast<std::size_t>(read.ptr - text.data())};
}

constexpr std::string_view kEscapes = "abfnrtv\\'\"";
constexpr std::string_view kEscaped = "\a\b\f\n\r\t\v\\'\"";

/// Appends what a backslash and the text behind it stand for. Returns the bytes of that text, 0 for
/// an escape that is not known (\N, halves of surrogates).
std::size_t unescape_one(std::string_view text, std::string& result) {
  const char c = text.front();
  if (const std::size_t at = kEscapes.find(c); at != std::string_view::npos) {
    result += kEscaped[at];
    return 1;
  }
  if (c == '\n') {
    return 1;
  }
  if (c == 'x' || c == 'u' || c == 'U') {
    const std::size_t wanted = c == 'x' ? 2 : c == 'u' ? 4 : 8;
    const auto [value, size] = digits(text.substr(1), 16, wanted);
    if (size != wanted || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
      return 0;
    }
    append_utf8(value, result);
    return 1 + wanted;
  }
  if (c >= '0' && c <= '7') {
    const auto [value, size] = digits(text, 8, 3);
    append_utf8(value, result);
    return size;
  }
  if (c == 'N') {
    return 0;
  }
  result += '\\';
  result += c;
  return 1;
}

}  // namespace

std::size_t space_at(std::string_view text) {
  const Utf8Char c = decode_utf8(text);
  return c.bytes > 0 && is_space(c.code_point) ? static_cast<std::size_t>(c.bytes) : 0;
}

std::size_t word_at(std::string_view text) {
  const Utf8Char c = decode_utf8(text);
  return c.bytes > 0 && is_word(c.code_point) ? static_cast<std::size_t>(c.bytes) : 0;
}

std::string_view strip_left(std::string_view text, std::optional<std::string_view> set) {
  while (!text.empty()) {
    const auto size = static_cast<std::size_t>(std::max(1, decode_utf8(text).bytes));
    if (!strips(text.substr(0, size), set)) {
      break;
    }
    text.remove_prefix(size);
  }
  return text;
}

std::string_view strip_right(std::string_view text, std::optional<std::string_view> set) {
  while (!text.empty() && strips(last_character(text), set)) {
    text.remove_suffix(last_character(text).size());
  }
  return text;
}

std::vector<std::string_view> split(std::string_view text,
                                    std::optional<std::string_view> separator, std::int64_t most,
                                    bool from_right) {
  std::vector<std::string_view> parts;
  if (!separator) {
    parts = split_at_spaces(text, most, from_right);
  } else {
    while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
      const std::size_t at = from_right ? text.rfind(*separator) : text.find(*separator);
      if (at == std::string_view::npos) {
        break;
      }
      const std::size_t behind = at + separator->size();
      parts.push_back(from_right ? text.substr(behind) : text.substr(0, at));
      text = from_right ? text.substr(0, at) : text.substr(behind);
    }
    parts.push_back(text);
  }
  if (from_right) {
    std::ranges::reverse(parts);
  }
  return parts;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keeps_ends) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\r\v\f\x1c\x1d\x1e"), text.size());
    const std::size_t behind =
        std::min(text.size(), end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
    lines.push_back(text.substr(0, keeps_ends ? behind : end));
    text.remove_prefix(behind);
  }
  return lines;
}

/// An empty `from` matches in front of every character and at the end, as in Python.
std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     std::int64_t most) {
  std::string result;
  std::size_t at = 0;
  for (std::int64_t count = 0; most < 0 || count < most; ++count) {
    const std::size_t found = text.find(from, at);
    if (found == std::string_view::npos || (from.empty() && found >= text.size())) {
      if (from.empty() && found == text.size()) {
        result += to;
      }
      break;
    }
    result.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
    if (from.empty()) {  // in front of every character, and at the end
      const auto size = static_cast<std::size_t>(std::max(1, decode_utf8(text.substr(at)).bytes));
      result.append(text.substr(at, size));
      at += size;
    }
  }
  return result.append(text.substr(std::min(at, text.size())));
}

std::int64_t characters(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return !is_continuation(c); });
}

/// Positions behind the text give its end.
std::size_t byte_of(std::string_view text, std::int64_t position) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!is_continuation(text[at]) && position-- == 0) {
      break;
    }
  }
  return at;
}

std::string capitalized(std::string_view text) {
  const std::size_t first = byte_of(text, 1);
  return title_case(text.substr(0, first)) + lower_case_with_final_sigma(text.substr(first));
}

std::optional<std::string> unescape(std::string_view text) {
  std::string result;
  for (;;) {
    const std::size_t plain = text.find('\\');
    result += text.substr(0, plain);
    if (plain == std::string_view::npos) {
      return result;
    }
    text.remove_prefix(plain + 1);
    const std::size_t used = text.empty() ? 0 : unescape_one(text, result);
    if (used == 0) {
      return std::nullopt;
    }
    text.remove_prefix(used);
  }
}

/// Prefers single quotes, and double ones only for a text with single but no double ones.
std::string literal_of(std::string_view text) {
  const bool doubles =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = doubles ? '"' : '\'';
  std::string result(1, quote);
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    const auto size = static_cast<std::size_t>(std::max(1, c.bytes));
    if (c.code_point == static_cast<unsigned char>(quote) || c.code_point == '\\') {
      result += '\\';
      result += text.front();
    } else if (c.code_point == '\n' || c.code_point == '\r' || c.code_point == '\t') {
      result += c.code_point == '\n' ? "\\n" : c.code_point == '\r' ? "\\r" : "\\t";
    } else if (is_printable(c.code_point)) {
      result += text.substr(0, size);
    } else {
      result += c.code_point < 0x100     ? fmt::format("\\x{:02x}", c.code_point)
                : c.code_point < 0x10000 ? fmt::format("\\u{:04x}", c.code_point)
                                         : fmt::format("\\U{:08x}", c.code_point);
    }
    text.remove_prefix(size);
  }
  return result + quote;
}

/// Writes the shortest digits that give the number back; with an exponent from 1e16 on and below
/// 1e-4.
std::string decimal(double value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  std::array<char, 400> text{};
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string result(text.data(), end.ptr);
  return plain && result.find('.') == std::string::npos ? result + ".0" : result;
}

}  // namespace mpitron::tokenizers::jinja
