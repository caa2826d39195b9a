#include "data/preprocess/sentence_splitter.h"

#include <algorithm>

#include "data/preprocess/sentence_characters.h"
#include "utils/text/utf8.h"

// Finds ends of sentences by the rules of nltk's Punkt: a full stop behind an abbreviation, an
// initial or a number ends a sentence only where the next word speaks for it.

namespace mpitron::data {

constexpr std::string_view kEnds = ".?!";

SentenceSplitter::SentenceSplitter(const std::string& language, BetweenSentences between)
    : words_(sentence_words(language)), between_(between) {}

bool SentenceSplitter::is_abbreviation(const std::string& type) const {
  const std::size_t hyphen = type.rfind('-') + 1;  // "ex-Sen."
  if (words_.abbreviations.contains(type) ||
      words_.abbreviations.contains(std::string_view(type).substr(hyphen))) {
    return true;
  }
  bool dotted = type.size() >= 3;  // "u.s", "n.a.t.o"
  for (std::size_t i = 0; i < type.size(); ++i) {
    dotted = dotted && (i % 2 == 0 ? punkt::is_letter(type[i]) : type[i] == '.');
  }
  return dotted && type.size() % 2 == 1;
}

/// Returns whether the next word speaks for a new sentence: a common word that is upper case only
/// at a beginning.
bool SentenceSplitter::is_starter(std::string_view next) const {
  const bool initial = next.size() == 2 && next[1] == '.';  // "Mr. A. Smith"
  if (!punkt::is_upper(next[0]) || initial) {
    return false;
  }
  std::string word;
  for (const char c : next) {
    if (!punkt::is_letter(c) && static_cast<unsigned char>(c) < 0x80) {
      break;
    }
    word += punkt::to_lower(c);
  }
  return words_.starters.contains(word);
}

/// Returns whether a sentence ends. `word` ends with the possible end; `next`: the word behind, or
/// one character that is none.
bool SentenceSplitter::ends_sentence(std::string_view word, std::string_view next) const {
  if (word.back() != '.') {
    return true;
  }
  const std::string_view token = punkt::last_token(word);
  std::string type(token.substr(0, token.size() - 1));
  std::ranges::transform(type, type.begin(), punkt::to_lower);
  if (type.ends_with('.')) {
    return is_starter(next);  // an ellipsis
  }
  if (type.size() == 1 && punkt::is_letter(type[0])) {
    return is_starter(next);  // an initial
  }
  if (punkt::is_number(type)) {
    return !punkt::begins_lower(next);
  }
  return !is_abbreviation(type) || is_starter(next);
}

/// Cuts at the ends alone; closing quotes are moved to the sentence before by split().
std::vector<SentenceSplitter::Slice> SentenceSplitter::cut(std::string_view text) const {
  std::vector<Slice> slices;
  std::size_t begin = 0;
  for (std::size_t at = punkt::end_of_white_space(text, 0); at < text.size();) {
    const std::size_t end = punkt::end_of_word(text, at);
    const std::size_t next = punkt::end_of_white_space(text, end);
    for (std::size_t last = end; last > at; --last) {
      const bool inside = last < end;
      if (!punkt::is_one_of(kEnds, text[last - 1]) ||
          (inside ? !punkt::is_one_of(punkt::kNonWord, text[last]) : next == text.size())) {
        continue;
      }
      const std::string_view behind =
          inside ? text.substr(last, 1) : text.substr(next, punkt::end_of_word(text, next) - next);
      if (ends_sentence(text.substr(at, last - at), behind)) {
        const std::size_t follows = inside ? last : next;
        slices.push_back({begin, between_ == BetweenSentences::kept ? follows : last});
        begin = follows;
      }
      break;  // Punkt looks at the last place of a word only
    }
    at = next;
  }
  slices.push_back({begin, std::max(begin, punkt::without_white_space_behind(text))});
  return slices;
}

void SentenceSplitter::split(std::string_view text,
                             std::vector<std::string_view>& sentences) const {
  std::vector<Slice> slices = cut(text);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    Slice& slice = slices[i];
    if (i + 1 < slices.size()) {
      Slice& next = slices[i + 1];
      const std::size_t closing =
          punkt::closing_bytes(text.substr(next.begin, next.end - next.begin));
      if (closing > 0) {
        slice.end = next.begin + closing;
        next.begin = std::min(next.end, punkt::end_of_white_space(text, slice.end));
        slice.end = between_ == BetweenSentences::kept ? next.begin : slice.end;
      }
    }
    if (slice.end > slice.begin) {
      sentences.push_back(text.substr(slice.begin, slice.end - slice.begin));
    }
  }
}

void SentenceSplitter::split_long(std::string_view text, std::size_t characters,
                                  std::vector<std::string_view>& sentences) const {
  while (!text.empty()) {
    std::size_t end = std::min(characters, text.size());
    if (text.size() > characters) {
      std::size_t counted = 0;
      for (end = 0; end < text.size(); ++end) {
        counted += !continues_character(text[end]);
        if (counted > characters) {
          break;
        }
      }
    }
    split(text.substr(0, end), sentences);
    text.remove_prefix(end);
  }
}

}  // namespace mpitron::data
