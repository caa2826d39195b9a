#include "tokenizers/split/split_lexer.h"

#include "utils/error.h"
#include "utils/text/utf8.h"

// The published splitting patterns without a regular expression engine: each rule of a pattern is a
// function that finds the end of its match, by classes of characters.

namespace mpitron::tokenizers {

template <SplitRules kRules>
auto SplitLexer<kRules>::read_multibyte(const char* at) const -> Char {
  const Utf8Char next = decode_utf8({at, static_cast<std::size_t>(end_ - at)});
  if (next.bytes == 0) {
    throw_data("text is not valid UTF-8 at byte {} (0x{:02X})", at - text_.data(),
               static_cast<unsigned>(static_cast<unsigned char>(*at)));
  }
  return {char_class(next.code_point), next.bytes};
}

template <SplitRules kRules>
inline auto SplitLexer<kRules>::read(const char* at) const -> Char {
  const CharSet set = kByteClasses[static_cast<unsigned char>(*at)];
  return set != 0 ? Char{set, 1} : read_multibyte(at);
}

template <SplitRules kRules>
const char* SplitLexer<kRules>::end_of_run(const char* at, CharSet set) const {
  while (at < end_) {
    const Char next = read(at);
    if ((next.set & set) == 0) {
      break;
    }
    at += next.bytes;
  }
  return at;
}

/// Returns the end of the contraction whose apostrophe is at `at`; null where there is none.
template <SplitRules kRules>
const char* SplitLexer<kRules>::end_of_contraction(const char* at) const {
  if (at == end_ || *at != '\'') {
    return nullptr;
  }
  constexpr bool kAnyCase = kRules.contractions != Contractions::leading;
  const auto rest = [&](std::ptrdiff_t i) {
    return end_ - at <= i ? '\0' : kAnyCase && at[i] >= 'A' && at[i] <= 'Z' ? at[i] + 0x20 : at[i];
  };
  switch (rest(1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return at + 2;
    case 'r':
    case 'v':
      return rest(2) == 'e' ? at + 3 : nullptr;
    case 'l':
      return rest(2) == 'l' ? at + 3 : nullptr;
    case '\xC5':  // U+017F folds to s
      return kAnyCase && rest(2) == '\xBF' ? at + 3 : nullptr;
    default:
      return nullptr;
  }
}

// [^\r\n\p{L}\p{N}]?\p{L}+
template <SplitRules kRules>
const char* SplitLexer<kRules>::end_of_word() const {
  Char first = read(at_);
  const char* at = at_ + first.bytes;
  if ((first.set & (kSymbol | kBlank)) != 0 && at < end_) {
    first = read(at);
    at += first.bytes;
  }
  return (first.set & kLetter) != 0 ? end_of_run(at, kLetter) : nullptr;
}

/// Returns what one alternative takes from `at`, with U = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and L =
/// [\p{Ll}\p{Lm}\p{Lo}\p{M}]: U*L+ where `mixed`, else U+L*; null where it fails.
template <SplitRules kRules>
const char* SplitLexer<kRules>::end_of_cased_letters(const char* at, bool mixed) const {
  const char* const begin = at;
  const char* end_of_both = nullptr;  // behind the last character that is in U and in L
  while (at < end_) {
    const Char next = read(at);
    if ((next.set & (kUpper | kCaseless | kMark)) == 0) {
      break;
    }
    at += next.bytes;
    end_of_both = (next.set & kUpper) == 0 ? at : end_of_both;
  }
  const char* const end = end_of_run(at, kLower | kCaseless | kMark);
  if (!mixed) {
    return at > begin ? end : nullptr;
  }
  // U* gives back what it took, up to a character that L+ accepts.
  return end > at ? end : end_of_both;
}

/// Tries the alternatives in the pattern's order, each with and then without the character before
/// the word, which may be a mark and so a part of the word as well.
template <SplitRules kRules>
const char* SplitLexer<kRules>::end_of_cased_word() const {
  constexpr CharSet kOfWords = kLetter | kMark;
  const Char first = read(at_);
  const char* const behind = at_ + first.bytes;
  const bool prefix =
      (first.set & (kSymbol | kBlank)) != 0 && behind < end_ && (read(behind).set & kOfWords) != 0;
  if (!prefix && (first.set & kOfWords) == 0) {
    return nullptr;
  }
  for (const bool mixed : {true, false}) {
    const char* end = prefix ? end_of_cased_letters(behind, mixed) : nullptr;
    end = end != nullptr ? end : end_of_cased_letters(at_, mixed);
    if (end != nullptr) {
      const char* contracted = kRules.contractions == Contractions::trailing_any_case
                                   ? end_of_contraction(end)
                                   : nullptr;
      return contracted != nullptr ? contracted : end;
    }
  }
  return nullptr;
}

/// Takes \p{N}{1,digits}.
template <SplitRules kRules>
const char* SplitLexer<kRules>::end_of_digits() const {
  const char* at = at_;
  for (int digits = 0; at < end_ && digits < kRules.digits; ++digits) {
    const Char next = read(at);
    if ((next.set & kNumber) == 0) {
      break;
    }
    at += next.bytes;
  }
  return at > at_ ? at : nullptr;
}

//  ?[^\s\p{L}\p{N}]+[\r\n/]*
template <SplitRules kRules>
const char* SplitLexer<kRules>::end_of_symbols() const {
  const char* const begin = at_ + (*at_ == ' ');
  const char* at = end_of_run(begin, kSymbol);
  if (at == begin) {
    return nullptr;
  }
  while (at < end_ && (*at == '\r' || *at == '\n' || (kRules.slashes && *at == '/'))) {
    ++at;
  }
  return at;
}

/// Takes white space by the last three alternatives: \s*[\r\n]+ ends behind the last line end of
/// the spaces, \s+(?!\S) takes all but the last space before a visible character, \s+ takes that
/// one where it stands alone.
template <SplitRules kRules>
const char* SplitLexer<kRules>::end_of_spaces() const {
  const char* at = at_;
  const char* last = at_;
  const char* line = nullptr;
  bool visible = false;
  while (at < end_) {
    const Char next = read(at);
    if ((next.set & kSpace) == 0) {
      visible = true;
      break;
    }
    last = at;
    at += next.bytes;
    line = (next.set & kNewline) != 0 ? at : line;
  }
  if (kRules.lines && line != nullptr) {
    return line;
  }
  return visible && last > at_ ? last : at;
}

/// Tries the alternatives of the pattern in their order; white space is the last one and always
/// fits.
template <SplitRules kRules>
std::string_view SplitLexer<kRules>::next_general() {
  if (at_ == end_) {
    return {};
  }
  if constexpr (kRules.contractions == Contractions::leading ||
                kRules.contractions == Contractions::leading_any_case) {
    if (const char* end = end_of_contraction(at_); end != nullptr) {
      return take(end);
    }
  }
  if constexpr (kRules.space_first) {
    Char first = read(at_);
    const char* at = at_ + first.bytes;
    if (*at_ == ' ' && at < end_) {
      first = read(at);
      at += first.bytes;
    }
    if ((first.set & kSpace) == 0) {
      const CharSet set = (first.set & kLetter) != 0   ? kLetter
                          : (first.set & kSymbol) != 0 ? kSymbol
                                                       : kNumber;
      return take(end_of_run(at, set));
    }
  } else {
    const char* end = kRules.cased_words ? end_of_cased_word() : end_of_word();
    end = end != nullptr ? end : end_of_digits();
    end = end != nullptr ? end : end_of_symbols();
    if (end != nullptr) {
      return take(end);
    }
  }
  return take(end_of_spaces());
}

template class SplitLexer<kGpt2Rules>;
template class SplitLexer<kCl100kRules>;
template class SplitLexer<kQwen2Rules>;
template class SplitLexer<kO200kRules>;
template class SplitLexer<kTiktokenV1Rules>;
template class SplitLexer<kTiktokenV2Rules>;

}  // namespace mpitron::tokenizers
