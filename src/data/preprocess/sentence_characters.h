#pragma once
#include <algorithm>
#include <cstddef>
#include <string_view>

namespace mpitron::data::punkt {

// Characters and words as nltk's Punkt sees them.

inline constexpr std::string_view kNonWord =
    ")\";}]*:@'({[?!";  // may follow an end without white space
inline constexpr std::string_view kNoStart = "(\"`{[:;&#*@)}]-,";
inline constexpr std::string_view kClosing = "\"')]}";

inline bool is_one_of(std::string_view set, char c) {
  return set.find(c) != std::string_view::npos;
}
inline bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline char to_lower(char c) {
  return is_upper(c) ? static_cast<char>(c + 'a' - 'A') : c;
}
inline bool is_letter(char c) {
  return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

/// Returns the bytes of the white space (Unicode's) at the front, 0: none.
inline std::size_t white_space(std::string_view text) {
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

inline std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size() && white_space(text.substr(at)) == 0) {
    ++at;
  }
  return at;
}

inline std::size_t end_of_white_space(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const std::size_t bytes = white_space(text.substr(at));
    if (bytes == 0) {
      break;
    }
    at += bytes;
  }
  return at;
}

inline std::size_t without_white_space_behind(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = end_of_white_space(text, 0); at < text.size();) {
    end = end_of_word(text, at);
    at = end_of_white_space(text, end);
  }
  return end;
}

/// Returns what Punkt's word tokenizer makes of the end of a word: behind the last character that
/// is none.
inline std::string_view last_token(std::string_view word) {
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

inline bool is_number(std::string_view type) {
  return std::ranges::any_of(type, is_digit) && std::ranges::all_of(type, [](char c) {
           return is_digit(c) || c == ',' || c == '.' || c == '-';
         });
}

inline bool begins_lower(std::string_view next) {
  return next[0] >= 'a' && next[0] <= 'z';
}

/// Returns the bytes of the closing quotes and brackets at the front that belong to the sentence
/// before; 0 where they begin this one.
inline std::size_t closing_bytes(std::string_view sentence) {
  std::size_t at = 0;
  while (at < sentence.size() && is_one_of(kClosing, sentence[at])) {
    ++at;
  }
  const std::string_view rest = sentence.substr(at);
  return at > 0 && (rest.empty() || white_space(rest) > 0 || rest.starts_with("--")) ? at : 0;
}

}  // namespace mpitron::data::punkt
