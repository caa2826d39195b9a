#include <array>
#include <cstdint>
#include <cstring>

#include "data/preprocess/flat_object.h"
#include "utils/text/utf8.h"

// Escapes of strings in JSON.

namespace mpitron::data {
namespace {

constexpr std::array<char, 256> make_escapes() {
  std::array<char, 256> escapes{};
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    escapes[static_cast<unsigned char>(kNames[i])] = kValues[i];
  }
  return escapes;
}

constexpr std::array<char, 256> kEscapes = make_escapes();

/// Returns the value of four hexadecimal digits; where they are something else, a value that does
/// not fit in 16 bits.
std::uint32_t hexadecimal(const char* digits) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const auto c = static_cast<unsigned char>(digits[i]);
    const auto letter = static_cast<unsigned char>((c | 0x20) - 'a');
    const std::uint32_t digit = c >= '0' && c <= '9' ? c - '0'
                                : letter < 6         ? letter + 10U
                                                     : 0x10000;
    value = value << 4 | digit;
  }
  return value;
}

}  // namespace

bool FlatObject::parse_escape() {
  if (end_ - at_ < 2) {
    return false;
  }
  if (at_[1] == 'u') {
    return parse_unicode_escape();
  }
  *out_ = kEscapes[static_cast<unsigned char>(at_[1])];
  at_ += 2;
  return *out_++ != 0;
}

/// Reads \uXXXX, or two of them that are a surrogate pair; a half of a pair alone is left to the
/// whole parser's message.
bool FlatObject::parse_unicode_escape() {
  constexpr std::ptrdiff_t kBytes = 6;
  if (end_ - at_ < kBytes) {
    return false;
  }
  std::uint32_t code_point = hexadecimal(at_ + 2);
  at_ += kBytes;
  if (code_point >= 0xD800 && code_point < 0xDC00) {
    if (end_ - at_ < kBytes || at_[0] != '\\' || at_[1] != 'u') {
      return false;
    }
    const std::uint32_t low = hexadecimal(at_ + 2);
    if (low < 0xDC00 || low > 0xDFFF) {
      return false;
    }
    at_ += kBytes;
    code_point = 0x10000 + ((code_point - 0xD800) << 10) + (low - 0xDC00);
  } else if (code_point >= 0xDC00 && (code_point < 0xE000 || code_point > 0xFFFF)) {
    return false;
  }
  std::string utf8;
  append_utf8(code_point, utf8);
  std::memcpy(out_, utf8.data(), utf8.size());
  out_ += utf8.size();
  return true;
}

}  // namespace mpitron::data
