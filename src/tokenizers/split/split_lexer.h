#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tokenizers/text/unicode_classes.h"

namespace mpitron::tokenizers {

/// How a pattern splits off the contractions 's 't 'm 'd 're 've 'll.
enum class Contractions : std::uint8_t {
  none,
  leading,            ///< as pieces of their own, lower case only
  leading_any_case,   ///< (?i:...), which takes U+017F for an s, too
  trailing_any_case,  ///< at the end of the word's piece
};

/// The family of splitting patterns of byte-level BPE tokenizers. All end in \s+(?!\S)|\s+.
struct SplitRules {
  Contractions contractions = Contractions::none;
  /// GPT-2: one space may begin words, numbers and symbols. Else a word may begin with any
  /// character of [^\r\n\p{L}\p{N}], symbols with a space, numbers with neither.
  bool space_first = false;
  /// Words are upper-case letters, then lower-case ones, with marks; else \p{L}+.
  bool cased_words = false;
  int digits = 1;  // of one piece at most; 0: any number
  /// Symbols end in [\r\n]*, and \s*[\r\n]+ is a piece.
  bool lines = true;
  bool slashes = false;  // symbols end in [\r\n/]*
};

inline constexpr SplitRules kGpt2Rules{
    .contractions = Contractions::leading, .space_first = true, .digits = 0, .lines = false};
inline constexpr SplitRules kCl100kRules{.contractions = Contractions::leading_any_case,
                                         .digits = 3};
inline constexpr SplitRules kQwen2Rules{.contractions = Contractions::leading_any_case};
inline constexpr SplitRules kO200kRules{.contractions = Contractions::trailing_any_case,
                                        .cased_words = true,
                                        .digits = 3,
                                        .slashes = true};
inline constexpr SplitRules kTiktokenV1Rules{};
inline constexpr SplitRules kTiktokenV2Rules{.cased_words = true, .slashes = true};

/// Splits UTF-8 text into the pieces of one pattern, without copying. The pieces follow each other
/// and cover the text. Checked against PCRE2 by the test, with the patterns of pre_tokenizer.h.
template <SplitRules kRules>
class SplitLexer {
 public:
  explicit SplitLexer(std::string_view text)
      : text_(text), at_(text.data()), end_(text.data() + text.size()) {}

  /// The next piece, or an empty view at the end. Error(data) with the byte offset where the text
  /// is not UTF-8.
  std::string_view next();

  /// True as these patterns match all there is (see RegexLexer).
  static constexpr bool matched() { return true; }

  /// True where at least 16 bytes from the start of `piece` may be read (callers load keys in one
  /// go).
  bool readable(std::string_view piece) const { return end_ - piece.data() >= 16; }

 private:
  struct Char {
    CharSet set;
    int bytes;
  };

  /// Returns the next piece by looking at each character.
  std::string_view next_general();
  std::string_view take(const char* end);
  Char read(const char* at) const;
  Char read_multibyte(const char* at) const;
  const char* end_of_run(const char* at, CharSet set) const;
  const char* end_of_contraction(const char* at) const;
  const char* end_of_word() const;
  const char* end_of_cased_word() const;
  const char* end_of_cased_letters(const char* at, bool mixed) const;
  const char* end_of_digits() const;
  const char* end_of_symbols() const;
  const char* end_of_spaces() const;

  std::string_view text_;
  const char* at_;
  const char* end_;
};

using Gpt2Lexer = SplitLexer<kGpt2Rules>;

extern template class SplitLexer<kGpt2Rules>;
extern template class SplitLexer<kCl100kRules>;
extern template class SplitLexer<kQwen2Rules>;
extern template class SplitLexer<kO200kRules>;
extern template class SplitLexer<kTiktokenV1Rules>;
extern template class SplitLexer<kTiktokenV2Rules>;

namespace detail {

/// Returns the number of ASCII letters at the front of the 8 bytes at `at`; of lower-case ones
/// where `any_case` is false. All bytes are compared at once in one word: each keeps its carry in
/// its own high bit, because inputs are below 0x80 there.
template <bool any_case>
int leading_letters(const char* at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x80 * kOnes;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  const std::uint64_t lower = (any_case ? bytes | 0x20 * kOnes : bytes) & ~kHigh;
  const std::uint64_t from_a = lower + (0x80 - 'a') * kOnes;
  const std::uint64_t past_z = lower + (0x80 - 'z' - 1) * kOnes;
  const std::uint64_t not_letter = ~(from_a & ~past_z & ~bytes) & kHigh;
  return (std::endian::native == std::endian::little ? std::countr_zero(not_letter)
                                                     : std::countl_zero(not_letter)) /
         8;
}

}  // namespace detail

template <SplitRules kRules>
inline std::string_view SplitLexer<kRules>::take(const char* end) {
  const std::string_view piece(at_, static_cast<std::size_t>(end - at_));
  at_ = end;
  return piece;
}

template <SplitRules kRules>
inline std::string_view SplitLexer<kRules>::next() {
  // Words of up to 15 ASCII letters need no look at single characters; everything else goes the
  // general way.
  constexpr std::ptrdiff_t kLookAhead = 24;
  if (end_ - at_ >= kLookAhead) [[likely]] {
    const char* word = at_ + (*at_ == ' ');
    if constexpr (kRules.cased_words) {
      word += *word >= 'A' && *word <= 'Z';
    }
    int letters = detail::leading_letters<!kRules.cased_words>(word);
    if (letters == 8) [[unlikely]] {
      letters += detail::leading_letters<!kRules.cased_words>(word + 8);
    }
    const char after = word[letters];
    const bool whole =
        kRules.contractions == Contractions::trailing_any_case ? after != '\'' : true;
    if (letters > 0 && letters < 16 && whole && static_cast<signed char>(after) >= 0) [[likely]] {
      return take(word + letters);
    }
  }
  return next_general();
}

}  // namespace mpitron::tokenizers
