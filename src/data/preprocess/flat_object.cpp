#include "data/preprocess/flat_object.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include <simdjson.h>

#include "utils/text/utf8.h"

// A fast path for JSON lines: {"text": "...", ...}. Strings are copied sixteen bytes at a time up
// to the next quote, backslash or control character; UTF-8 is checked once at the end, and only
// where a byte was above 127.

namespace mpitron::data {
namespace {

/// Sixteen bytes in the compiler's own vector type: a comparison gives 0 or 255 in each.
using Bytes [[gnu::vector_size(16)]] = unsigned char;
using Lanes [[gnu::vector_size(16)]] = std::uint64_t;
constexpr std::size_t kBlock = sizeof(Bytes);

/// Marks the bytes that end a run of plain characters: a quote, a backslash, a control character.
Lanes special_bytes(Bytes block) {
  return (Lanes)((block == '"') | (block == '\\') | (block < 0x20));
}

/// Returns the bytes before the first of those; one of the lanes is not zero.
int bytes_before(Lanes special) {
  return (special[0] != 0 ? std::countr_zero(special[0]) : 64 + std::countr_zero(special[1])) / 8;
}

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

bool space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

bool FlatObject::parse(std::string_view json, std::span<const std::string> keys) {
  if (std::endian::native != std::endian::little) {
    return false;
  }
  storage_.resize(std::max(storage_.size(), json.size() + kBlock));
  at_ = json.data();
  end_ = at_ + json.size();
  out_ = storage_.data();
  ascii_ = true;
  texts_.assign(keys.size(), {});
  // A value's view is null until it is found: storage_ is not.
  const auto found = [](std::string_view text) { return text.data() != nullptr; };
  return take('{') && parse_members(keys) && take('}') && ended() &&
         std::all_of(texts_.begin(), texts_.end(), found) &&
         (ascii_ || simdjson::validate_utf8(json.data(), json.size()));
}

bool FlatObject::ended() {
  while (at_ < end_ && space(*at_)) {
    ++at_;
  }
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

bool FlatObject::parse_string(std::string_view& text) {
  const char* const begin = out_;
  for (copy_plain(); at_ < end_ && *at_ == '\\'; copy_plain()) {
    if (!parse_escape()) {
      return false;
    }
  }
  text = {begin, static_cast<std::size_t>(out_ - begin)};
  return at_ < end_ && *at_++ == '"';
}

/// Copies the characters up to the next special one, a block at a time. The places are kept in
/// registers: as members, each block would wait for the one before to be stored.
void FlatObject::copy_plain() {
  const char* at = at_;
  char* out = out_;
  Bytes bits{};
  while (at < end_) {
    Bytes block;
    std::memcpy(&block, at, kBlock);
    std::memcpy(out, &block, kBlock);
    bits |= block;
    const Lanes special = special_bytes(block);
    if ((special[0] | special[1]) != 0) {
      at += bytes_before(special);
      out += bytes_before(special);
      break;
    }
    at += kBlock;
    out += kBlock;
  }
  const Lanes high = (Lanes)(bits >= 0x80);
  ascii_ = ascii_ && (high[0] | high[1]) == 0;
  at_ = at;
  out_ = out;
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
