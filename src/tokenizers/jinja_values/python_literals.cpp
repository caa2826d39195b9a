#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "tokenizers/jinja_values/python_text.h"
#include "tokenizers/text/unicode_text.h"
#include "utils/text/utf8.h"

// Python's literals: what an escape stands for, and repr() of texts and numbers.

namespace mpitron::tokenizers::jinja {
namespace {

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
