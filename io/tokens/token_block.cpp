#include "io/tokens/token_block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "utils/check.h"
#include "utils/error.h"

namespace mpitron::io {
namespace {

// The bits of all tokens that the narrower type loses, in one word.
template <class To, class From>
std::uint64_t narrow_some(const From* tokens, std::size_t count, std::byte* out) {
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const To value = static_cast<To>(tokens[i]);
    lost |= static_cast<std::uint64_t>(tokens[i] ^ static_cast<From>(value));
    std::memcpy(out + i * sizeof(To), &value, sizeof(To));
  }
  return lost;
}

// Two 32-bit tokens in one word become two 16-bit ones: operations that every vector unit has. As
// narrow_some otherwise.
std::uint64_t narrow_pairs(const std::int32_t* tokens, std::size_t pairs, std::byte* out) {
  constexpr std::uint64_t kLow = 0xFFFF;
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    std::uint64_t pair = 0;
    std::memcpy(&pair, tokens + 2 * i, sizeof pair);
    lost |= pair & ~(kLow << 32 | kLow);
    const auto value = static_cast<std::uint32_t>((pair & kLow) | (pair >> 16));
    std::memcpy(out + i * sizeof value, &value, sizeof value);
  }
  return lost;
}

/// False when a value changes on the way to the narrower type.
template <class To, class From>
bool narrow(std::span<const From> tokens, std::byte* out) {
  if constexpr (std::is_same_v<To, std::uint16_t> && std::is_same_v<From, std::int32_t> &&
                std::endian::native == std::endian::little) {
    const std::size_t pairs = tokens.size() / 2;
    const std::uint64_t lost = narrow_pairs(tokens.data(), pairs, out);
    return (lost | narrow_some<To>(tokens.data() + 2 * pairs, tokens.size() % 2,
                                   out + 2 * pairs * sizeof(To))) == 0;
  }
  constexpr std::size_t kLanes = 16;  // a fixed count lets the compiler use vectors
  std::uint64_t lost = 0;
  std::size_t done = 0;
  for (; done + kLanes <= tokens.size(); done += kLanes) {
    std::array<From, kLanes> wide;
    std::array<To, kLanes> values;
    std::memcpy(wide.data(), tokens.data() + done, sizeof wide);
    From bits = 0;
    for (std::size_t i = 0; i < kLanes; ++i) {
      values[i] = static_cast<To>(wide[i]);
      bits |= wide[i] ^ static_cast<From>(values[i]);
    }
    lost |= static_cast<std::uint64_t>(bits);
    std::memcpy(out + done * sizeof(To), values.data(), sizeof values);
  }
  lost |= narrow_some<To>(tokens.data() + done, tokens.size() - done, out + done * sizeof(To));
  return lost == 0;
}

template <class From>
bool narrow(TokenType type, std::span<const From> tokens, std::byte* out) {
  switch (type) {
    case TokenType::u8:
      return narrow<std::uint8_t>(tokens, out);
    case TokenType::i8:
      return narrow<std::int8_t>(tokens, out);
    case TokenType::i16:
      return narrow<std::int16_t>(tokens, out);
    case TokenType::i32:
      return narrow<std::int32_t>(tokens, out);
    case TokenType::i64:
      return narrow<std::int64_t>(tokens, out);
    case TokenType::u16:
      return narrow<std::uint16_t>(tokens, out);
    case TokenType::f32:
    case TokenType::f64:
      break;  // features are appended from parts, never written as tokens
  }
  return tokens.empty();
}

template <class From>
void narrow_or_throw(TokenType type, std::span<const From> tokens, std::byte* out) {
  if (!narrow(type, tokens, out)) {
    const auto [low, high] = std::minmax_element(tokens.begin(), tokens.end());
    throw_data("token ids from {} to {} do not fit the type {}", *low, *high, to_string(type));
  }
}

}  // namespace

void narrow_tokens(TokenType type, std::span<const std::int32_t> tokens, std::byte* out) {
  narrow_or_throw(type, tokens, out);
}

void narrow_tokens(TokenType type, std::span<const std::int64_t> tokens, std::byte* out) {
  narrow_or_throw(type, tokens, out);
}

void TokenBlock::clear() {
  used_ = 0;
  lengths_.clear();
  ends_.clear();
}

Index TokenBlock::empty_document_count() const {
  Index count = 0;
  std::int64_t begin = 0;
  for (const std::int64_t end : ends_) {
    count += begin == end;
    begin = end;
  }
  return count;
}

void TokenBlock::add_document(std::span<const std::int32_t> tokens,
                              std::span<const std::int32_t> sequence_lengths) {
  MPITRON_CHECK(std::accumulate(sequence_lengths.begin(), sequence_lengths.end(), std::size_t{0},
                                [](std::size_t sum, std::int32_t length) {
                                  return sum + static_cast<std::size_t>(length);
                                }) == tokens.size(),
                tokens.size());
  const std::size_t end = used_ + tokens.size() * size_of(type_);
  if (end > bytes_.size()) {
    bytes_.resize(std::max(end, 2 * bytes_.size()));
  }
  narrow_tokens(type_, tokens, bytes_.data() + used_);
  used_ = end;
  lengths_.insert(lengths_.end(), sequence_lengths.begin(), sequence_lengths.end());
  ends_.push_back(static_cast<std::int64_t>(lengths_.size()));
}

}  // namespace mpitron::io
