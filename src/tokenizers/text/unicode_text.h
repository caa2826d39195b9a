#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "utils/text/utf8.h"

namespace mpitron::tokenizers {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// Returns `text` (valid UTF-8) in a normal form, by the version of Unicode that utf8proc has.
/// Error(data) for invalid UTF-8.
std::string normalize(std::string_view text, NormalForm form);

/// Converts every character on its own to lower case; Error(data) for invalid UTF-8.
std::string lower_case(std::string_view text);

/// Converts as Python's str.lower: a capital sigma that ends a word becomes the final one.
std::string lower_case_with_final_sigma(std::string_view text);

/// Converts every character on its own to upper case; the sharp s becomes SS.
std::string upper_case(std::string_view text);
/// Converts the first letter of every run of letters to title case, the others to lower case:
/// Python's str.title, but for characters that become two.
std::string title_case(std::string_view text);

/// Returns `text` without characters of category Mn (accents of a decomposed text).
std::string strip_nonspacing_marks(std::string_view text);

/// Calls handle(std::string_view) for every extended grapheme cluster of valid UTF-8.
void for_graphemes(std::string_view text, const std::function<void(std::string_view)>& handle);

/// Return whether the category is M, N, P (is_bert_punctuation: or ASCII punctuation), Cc or Cf, C
/// but unassigned.
bool is_mark(std::uint32_t code_point);
bool is_number(std::uint32_t code_point);
bool is_punctuation(std::uint32_t code_point);
bool is_bert_punctuation(std::uint32_t code_point);
bool is_control_or_format(std::uint32_t code_point);
bool is_other(std::uint32_t code_point);
/// Returns whether the category is L: Python's str.isalpha.
bool is_letter(std::uint32_t code_point);
/// Returns whether the character has the property White_Space.
bool is_white_space(std::uint32_t code_point);
/// Returns whether \w of regular expressions matches: letters, marks, decimal digits, numbers
/// written as letters (Nl), connectors and the two joiners.
bool is_word(std::uint32_t code_point);
/// Returns whether BERT counts the character as a CJK ideograph. Source: Google's BERT,
/// tokenization.py.
bool is_cjk(std::uint32_t code_point);

/// Replaces every `from` (not empty) in `text`.
void replace_all(std::string& text, std::string_view from, std::string_view to);

/// Takes the spaces away that cutting put in front of punctuation and contractions of English.
/// Source: BERT's and Hugging Face's clean_up_tokenization.
void clean_up_spaces(std::string& text);

/// Returns whether all characters are ASCII, which most text is.
bool is_ascii(std::string_view text);

/// Error(data) names the first byte that is not UTF-8.
std::u32string decode(std::string_view text);

/// Calls handle(code point, its bytes) for every character; a byte that is none counts as one.
template <class Handle>
void for_characters(std::string_view text, Handle&& handle) {
  while (!text.empty()) {
    const Utf8Char next = decode_utf8(text);
    const auto bytes = static_cast<std::size_t>(next.bytes == 0 ? 1 : next.bytes);
    handle(next.code_point, text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
}

}  // namespace mpitron::tokenizers
