#include "data/preprocess/sentence_splitter.h"

#include <algorithm>

#include "utils/text/utf8.h"

// Finds ends of sentences by the rules of nltk's Punkt: a full stop behind an abbreviation, an
// initial or a number ends a sentence only where the next word speaks for it.

namespace mpitron::data {
namespace {

constexpr std::string_view kEnds = ".?!";
constexpr std::string_view kNonWord = ")\";}]*:@'({[?!";  // may follow an end without white space
constexpr std::string_view kNoStart = "(\"`{[:;&#*@)}]-,";
constexpr std::string_view kClosing = "\"')]}";

bool is_one_of(std::string_view set, char c) {
  return set.find(c) != std::string_view::npos;
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
char to_lower(char c) {
  return is_upper(c) ? static_cast<char>(c + 'a' - 'A') : c;
}
bool is_letter(char c) {
  return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

/// Returns the bytes of the white space (Unicode's) at the front, 0: none.
std::size_t white_space(std::string_view text) {
  if (static_cast<unsigned char>(text[0]) < 0x80) {
    return text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r') ||
           (text[0] >= '\x1c' && text[0] <= '\x1f');
  }
  if (text.starts_with("\xC2\x85") || text.starts_with("\xC2\xA0")) {
    return 2;
  }
  if (text.starts_with("\xE2\x80") && text.size() > 2) {
    const auto last = static_cast<unsigned char>(text[2]);
    return (last >= 0x80 && last <= 0x8A) || last == 0xA8 || last == 0xA9 || last == 0xAF ? 3 : 0;
  }
  return text.starts_with("\xE1\x9A\x80") || text.starts_with("\xE2\x81\x9F") ||
                 text.starts_with("\xE3\x80\x80")
             ? 3
             : 0;
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size() && white_space(text.substr(at)) == 0) {
    ++at;
  }
  return at;
}

std::size_t end_of_white_space(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const std::size_t bytes = white_space(text.substr(at));
    if (bytes == 0) {
      break;
    }
    at += bytes;
  }
  return at;
}

std::size_t without_white_space_behind(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = end_of_white_space(text, 0); at < text.size();) {
    end = end_of_word(text, at);
    at = end_of_white_space(text, end);
  }
  return end;
}

/// Returns what Punkt's word tokenizer makes of the end of a word: behind the last character that
/// is none.
std::string_view last_token(std::string_view word) {
  for (std::size_t at = word.size() - 1; at > 0; --at) {
    if (is_one_of(kNonWord, word[at - 1])) {
      word.remove_prefix(at);
      break;
    }
  }
  while (word.size() > 1 && is_one_of(kNoStart, word[0])) {
    word.remove_prefix(1);
  }
  return word;
}

bool is_number(std::string_view type) {
  return std::ranges::any_of(type, is_digit) && std::ranges::all_of(type, [](char c) {
           return is_digit(c) || c == ',' || c == '.' || c == '-';
         });
}

bool begins_lower(std::string_view next) {
  return next[0] >= 'a' && next[0] <= 'z';
}

/// Returns the bytes of the closing quotes and brackets at the front that belong to the sentence
/// before; 0 where they begin this one.
std::size_t closing_bytes(std::string_view sentence) {
  std::size_t at = 0;
  while (at < sentence.size() && is_one_of(kClosing, sentence[at])) {
    ++at;
  }
  const std::string_view rest = sentence.substr(at);
  return at > 0 && (rest.empty() || white_space(rest) > 0 || rest.starts_with("--")) ? at : 0;
}

}  // namespace

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
    dotted = dotted && (i % 2 == 0 ? is_letter(type[i]) : type[i] == '.');
  }
  return dotted && type.size() % 2 == 1;
}

/// Returns whether the next word speaks for a new sentence: a common word that is upper case only
/// at a beginning.
bool SentenceSplitter::is_starter(std::string_view next) const {
  const bool initial = next.size() == 2 && next[1] == '.';  // "Mr. A. Smith"
  if (!is_upper(next[0]) || initial) {
    return false;
  }
  std::string word;
  for (const char c : next) {
    if (!is_letter(c) && static_cast<unsigned char>(c) < 0x80) {
      break;
    }
    word += to_lower(c);
  }
  return words_.starters.contains(word);
}

/// Returns whether a sentence ends. `word` ends with the possible end; `next`: the word behind, or
/// one character that is none.
bool SentenceSplitter::ends_sentence(std::string_view word, std::string_view next) const {
  if (word.back() != '.') {
    return true;
  }
  const std::string_view token = last_token(word);
  std::string type(token.substr(0, token.size() - 1));
  std::ranges::transform(type, type.begin(), to_lower);
  if (type.ends_with('.')) {
    return is_starter(next);  // an ellipsis
  }
  if (type.size() == 1 && is_letter(type[0])) {
    return is_starter(next);  // an initial
  }
  if (is_number(type)) {
    return !begins_lower(next);
  }
  return !is_abbreviation(type) || is_starter(next);
}

/// Cuts at the ends alone; closing quotes are moved to the sentence before by split().
std::vector<SentenceSplitter::Slice> SentenceSplitter::cut(std::string_view text) const {
  std::vector<Slice> slices;
  std::size_t begin = 0;
  for (std::size_t at = end_of_white_space(text, 0); at < text.size();) {
    const std::size_t end = end_of_word(text, at);
    const std::size_t next = end_of_white_space(text, end);
    for (std::size_t last = end; last > at; --last) {
      const bool inside = last < end;
      if (!is_one_of(kEnds, text[last - 1]) ||
          (inside ? !is_one_of(kNonWord, text[last]) : next == text.size())) {
        continue;
      }
      const std::string_view behind =
          inside ? text.substr(last, 1) : text.substr(next, end_of_word(text, next) - next);
      if (ends_sentence(text.substr(at, last - at), behind)) {
        const std::size_t follows = inside ? last : next;
        slices.push_back({begin, between_ == BetweenSentences::kept ? follows : last});
        begin = follows;
      }
      break;  // Punkt looks at the last place of a word only
    }
    at = next;
  }
  slices.push_back({begin, std::max(begin, without_white_space_behind(text))});
  return slices;
}

void SentenceSplitter::split(std::string_view text,
                             std::vector<std::string_view>& sentences) const {
  std::vector<Slice> slices = cut(text);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    Slice& slice = slices[i];
    if (i + 1 < slices.size()) {
      Slice& next = slices[i + 1];
      const std::size_t closing = closing_bytes(text.substr(next.begin, next.end - next.begin));
      if (closing > 0) {
        slice.end = next.begin + closing;
        next.begin = std::min(next.end, end_of_white_space(text, slice.end));
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
