#include "tokenizers/word_piece/bert_words.h"

// Roles of characters in BERT's basic tokenizer, in the order of its tests: ASCII is most text and
// decided first; a control character goes even if it is white space.

namespace mpitron::tokenizers {

BertWords::Role BertWords::role_of(std::uint32_t c) {
  if (c > ' ' && c < 0x7F) {
    return Role::inner;
  }
  if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
    return Role::space;
  }
  if (c == 0 || c == 0xFFFD || is_control_or_format(c)) {
    return Role::dropped;
  }
  if (is_white_space(c)) {
    return Role::space;
  }
  return is_cjk(c) ? Role::alone : Role::inner;
}

std::string BertWords::fold(std::string_view word) {
  return strip_nonspacing_marks(normalize(lower_case_with_final_sigma(word), NormalForm::nfd));
}

}  // namespace mpitron::tokenizers
