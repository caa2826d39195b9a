#include "data/flat_object.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include <simdjson.h>

#include "utils/utf8.h"

namespace mpitron::data {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101;
constexpr std::uint64_t kHighBits = 0x80 * kOnes;
constexpr std::size_t kWord = sizeof(std::uint64_t);

// The high bit of the first byte that is zero, and maybe of bytes behind it.
constexpr std::uint64_t zero_bytes(std::uint64_t word) {
  return (word - kOnes) & ~word & kHighBits;
}

// The same for the first byte that ends a run of plain characters: a quote, a backslash, a control
// character.
constexpr std::uint64_t special_bytes(std::uint64_t word) {
  const std::uint64_t control = (word - 0x20 * kOnes) & ~word & kHighBits;
  return zero_bytes(word ^ '"' * kOnes) | zero_bytes(word ^ '\\' * kOnes) | control;
}

constexpr std::array<char, 256> make_escapes() {
  std::array<char, 256> escapes{};
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  for (std::size_t i = 0; i < kNames.size(); ++i)
    escapes[static_cast<unsigned char>(kNames[i])] = kValues[i];
  return escapes;
}

constexpr std::array<char, 256> kEscapes = make_escapes();

// Value of four hexadecimal digits; nothing fits in 16 bits where they are something else.
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

bool space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

bool FlatObject::parse(std::string_view json, std::span<const std::string> keys) {
  if (std::endian::native != std::endian::little) {
    return false;
  }
  storage_.resize(std::max(storage_.size(), json.size() + kWord));
  at_ = json.data();
  end_ = at_ + json.size();
  out_ = storage_.data();
  bits_ = 0;
  texts_.assign(keys.size(), {});
  // A value's view is null until it is found: storage_ is not.
  const auto found = [](std::string_view text) { return text.data() != nullptr; };
  return take('{') && parse_members(keys) && take('}') && ended() &&
         std::all_of(texts_.begin(), texts_.end(), found) &&
         ((bits_ & kHighBits) == 0 || simdjson::validate_utf8(json.data(), json.size()));
}

bool FlatObject::ended() {
  while (at_ < end_ && space(*at_))
    ++at_;
  return at_ == end_;
}

bool FlatObject::take(char expected) {
  if (ended() || *at_ != expected) {
    return false;
  }
  ++at_;
  return true;
}

bool FlatObject::parse_members(std::span<const std::string> keys) {
  do {
    std::string_view key;
    std::string_view text;
    if (!parse_key(key) || !take(':') || !take('"') || !parse_string(text)) {
      return false;
    }
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (key == keys[k]) {
        texts_[k] = text;
      }
    }
  } while (take(','));
  return true;
}

bool FlatObject::parse_key(std::string_view& key) {
  if (!take('"')) {
    return false;
  }
  const char* const begin = at_;
  for (; at_ < end_ && *at_ != '"'; ++at_) {
    const bool plain = *at_ >= 0x20 && *at_ < 0x7F && *at_ != '\\';
    if (!plain) {
      return false;
    }
  }
  key = {begin, static_cast<std::size_t>(at_ - begin)};
  return take('"');
}

// Copies eight bytes at a time, and counts those before the first special one.
bool FlatObject::parse_string(std::string_view& text) {
  const char* const begin = out_;
  while (at_ < end_) {
    std::uint64_t word = 0;
    std::memcpy(&word, at_, kWord);
    std::memcpy(out_, &word, kWord);
    bits_ |= word;
    const std::uint64_t special = special_bytes(word);
    if (special == 0) [[likely]] {
      at_ += kWord;
      out_ += kWord;
      continue;
    }
    const int plain = std::countr_zero(special) / 8;
    at_ += plain;
    out_ += plain;
    if (at_ >= end_ || (*at_ != '\\' && *at_ != '"')) {
      return false;
    }
    if (*at_ == '"') {
      text = {begin, static_cast<std::size_t>(out_ - begin)};
      ++at_;
      return true;
    }
    if (!parse_escape()) {
      return false;
    }
  }
  return false;
}

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
