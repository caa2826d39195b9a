#include "data/preprocess/flat_object.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include <simdjson.h>

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

}  // namespace mpitron::data
