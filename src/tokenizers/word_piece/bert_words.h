#pragma once
#include <string>
#include <string_view>

#include "tokenizers/text/unicode_text.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

namespace mpitron::tokenizers {

/// Cuts text into words as BERT's basic tokenizer does: control characters go, CJK ideographs and
/// punctuation stand alone, and with `lower` accents and capitals go. Source: Google's BERT,
/// tokenization.py, as Megatron has it (str.lower, then NFD without category Mn).
class BertWords {
 public:
  explicit BertWords(bool lower) : lower_(lower) {}

  /// Calls emit(std::string_view) for every word. Error(data) for invalid UTF-8.
  template <class Emit>
  void split(std::string_view text, Emit&& emit) {
    for (std::size_t at = 0; at < text.size();) {
      const Utf8Char next = decode_utf8(text.substr(at));
      if (next.bytes == 0) {
        throw_data("text is not valid UTF-8 at byte {}", at);
      }
      const std::string_view character = text.substr(at, static_cast<std::size_t>(next.bytes));
      at += character.size();
      switch (role_of(next.code_point)) {
        case Role::dropped:
          break;
        case Role::inner:
          word_ += character;
          break;
        case Role::space:
          flush(emit);
          break;
        case Role::alone:
          flush(emit);
          word_ = character;
          flush(emit);
      }
    }
    flush(emit);
  }

 private:
  enum class Role { inner, space, alone, dropped };

  static Role role_of(std::uint32_t c);

  /// Returns the word in lower case and without accents.
  static std::string fold(std::string_view word);

  /// Emits the collected word, cut at punctuation. Folding comes before cutting, as in BERT: it may
  /// make punctuation.
  template <class Emit>
  void flush(Emit&& emit) {
    if (word_.empty()) {
      return;
    }
    if (lower_) {
      word_ = fold(word_);
    }
    const std::string_view word = word_;
    std::size_t start = 0;
    for (std::size_t at = 0; at < word.size();) {
      const Utf8Char next = decode_utf8(word.substr(at));
      const auto bytes = static_cast<std::size_t>(next.bytes);
      if (is_bert_punctuation(next.code_point)) {
        emit_if_any(word.substr(start, at - start), emit);
        emit(word.substr(at, bytes));
        start = at + bytes;
      }
      at += bytes;
    }
    emit_if_any(word.substr(start), emit);
    word_.clear();
  }

  template <class Emit>
  static void emit_if_any(std::string_view part, Emit&& emit) {
    if (!part.empty()) {
      emit(part);
    }
  }

  bool lower_;
  std::string word_;
};

}  // namespace mpitron::tokenizers
