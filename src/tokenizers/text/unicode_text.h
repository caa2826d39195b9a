#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mpitron::tokenizers {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// `text` (valid UTF-8) in a normal form of Unicode 15. Error(data) for invalid UTF-8.
std::string normalize(std::string_view text, NormalForm form);

/// Lower case of every character on its own; Error(data) for invalid UTF-8.
std::string lower_case(std::string_view text);

/// The same as Python's str.lower: a capital sigma that ends a word becomes the final one.
std::string lower_case_with_final_sigma(std::string_view text);

/// Upper case of every character on its own, and of the sharp s SS.
std::string upper_case(std::string_view text);
/// The first letter of every run of letters in title case, the others in lower case: Python's
/// str.title, but for characters that become two.
std::string title_case(std::string_view text);

/// `text` without characters of category Mn (accents of a decomposed text).
std::string strip_nonspacing_marks(std::string_view text);

/// Calls handle(std::string_view) for every extended grapheme cluster of valid UTF-8.
void for_graphemes(std::string_view text, const std::function<void(std::string_view)>& handle);

/// Category M, N, P (is_bert_punctuation: and all ASCII punctuation), Cc or Cf, C but unassigned.
bool is_mark(std::uint32_t code_point);
bool is_number(std::uint32_t code_point);
bool is_punctuation(std::uint32_t code_point);
bool is_bert_punctuation(std::uint32_t code_point);
bool is_control_or_format(std::uint32_t code_point);
bool is_other(std::uint32_t code_point);
/// Letters and numbers: Python's str.isalpha and str.isdigit.
bool is_letter(std::uint32_t code_point);
/// The property White_Space.
bool is_white_space(std::uint32_t code_point);
/// Letters, marks, decimal digits and connectors: \w of regular expressions.
bool is_word(std::uint32_t code_point);
/// CJK ideographs as BERT counts them. Source: Google's BERT, tokenization.py.
bool is_cjk(std::uint32_t code_point);

/// Replaces every `from` (not empty) in `text`.
void replace_all(std::string& text, std::string_view from, std::string_view to);

/// Takes the spaces away that cutting put in front of punctuation and contractions of English.
/// Source: BERT's and Hugging Face's clean_up_tokenization.
void clean_up_spaces(std::string& text);

}  // namespace mpitron::tokenizers
