#pragma once
#include <string>
#include <string_view>

namespace mpitron::tokenizers {

/// Replaces every `from` (not empty) in `text`.
void replace_all(std::string& text, std::string_view from, std::string_view to);

/// Takes the spaces away that cutting put in front of punctuation and contractions of English.
/// Source: BERT's and Hugging Face's clean_up_tokenization.
void clean_up_spaces(std::string& text);

}  // namespace mpitron::tokenizers
