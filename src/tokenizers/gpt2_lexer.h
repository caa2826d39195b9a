#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tokenizers/unicode_classes.h"

namespace mpitron::tokenizers {

/// Splits UTF-8 text into the pieces of GPT-2's pre-tokenizer, without copying:
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// The pieces follow each other and cover the text. Source: GPT-2's encoder.py; checked against
/// PCRE2 by the test.
class Gpt2Lexer {
 public:
  explicit Gpt2Lexer(std::string_view text)
      : text_(text), at_(text.data()), end_(text.data() + text.size()) {}

  /// The next piece, or an empty view at the end. Error(data) with the byte offset where the text
  /// is not UTF-8.
  std::string_view next();

  /// True where at least 16 bytes from the start of `piece` may be read (callers load keys in one
  /// go).
  bool readable(std::string_view piece) const { return end_ - piece.data() >= 16; }

 private:
  struct Char {
    CharClass kind;
    int bytes;
  };

  std::string_view next_general();
  std::string_view take(const char* end);
  Char read(const char* at) const;
  Char read_multibyte(const char* at) const;
  const char* end_of_run(const char* at, CharClass kind) const;
  const char* end_of_spaces() const;
  const char* end_of_contraction() const;

  std::string_view text_;
  const char* at_;
  const char* end_;
};

namespace detail {

/// Number of ASCII letters at the front of the 8 bytes at `at`.
inline int leading_letters(const char* at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kOnes;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  const std::uint64_t lower = (bytes | 0x20 * kOnes) & ~kHigh;
  const std::uint64_t from_a = lower + (0x80 - 'a') * kOnes;
  const std::uint64_t past_z = lower + (0x80 - 'z' - 1) * kOnes;
  const std::uint64_t not_letter = ~(from_a & ~past_z & ~bytes) & kHigh;
  return (std::endian::native == std::endian::little ? std::countr_zero(not_letter)
                                                     : std::countl_zero(not_letter)) /
         8;
}

}  // namespace detail

inline std::string_view Gpt2Lexer::take(const char* end) {
  const std::string_view piece(at_, static_cast<std::size_t>(end - at_));
  at_ = end;
  return piece;
}

inline std::string_view Gpt2Lexer::next() {
  // Words of up to 15 ASCII letters need no look at single characters; everything else goes the
  // general way.
  constexpr std::ptrdiff_t kLookAhead = 24;
  if (end_ - at_ >= kLookAhead) [[likely]] {
    const char* word = at_ + (*at_ == ' ');
    int letters = detail::leading_letters(word);
    if (letters == 8) [[unlikely]]
      letters += detail::leading_letters(word + 8);
    const char after = word[letters];
    if (letters > 0 && letters < 16 && static_cast<signed char>(after) >= 0) [[likely]] {
      return take(word + letters);
    }
  }
  return next_general();
}

}  // namespace mpitron::tokenizers
