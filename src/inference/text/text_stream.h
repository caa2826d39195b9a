#pragma once
#include <string>
#include <vector>

#include "tokenizers/core/tokenizer.h"

namespace mpitron::inference {

using tokenizers::TokenId;
using tokenizers::TokenIds;

/// Texts that end an answer.
struct StopTexts {
  std::vector<std::string> before;  // the answer ends before the first of these
  std::vector<std::string> after;   // the answer ends with the token that brings one of these
};

/// Text of an answer while its tokens come: whole UTF-8 characters only, the same as decoding all
/// at once, ended by texts that may lie across tokens.
class TextStream {
 public:
  TextStream(const tokenizers::Tokenizer& tokenizer, std::span<const TokenId> prompt,
             StopTexts stop);

  /// Takes a token and returns whether a stop text ended the answer. `visible`: its text is part of
  /// it.
  bool push(TokenId id, bool visible = true);
  /// Ends the stream: what was held back is text after all, half characters become U+FFFD.
  void finish();

  /// Returns the answer's text so far; what is behind settled() may still be a stop text.
  const std::string& text() const { return text_; }
  /// Returns how much of text() no stop text can take back: what a stream may send.
  std::size_t settled() const { return settled_; }
  /// Returns the text that ended the answer; empty where none did.
  const std::string& stopped_by() const { return stopped_by_; }
  /// Lists the bytes of the answer's text before each token.
  const std::vector<std::size_t>& offsets() const { return offsets_; }

 private:
  std::string decode_new();
  bool search(std::size_t from);
  void settle();

  const tokenizers::Tokenizer& tokenizer_;
  StopTexts stop_;
  TokenIds window_;          // the last tokens: context, then what is not decoded yet
  std::size_t context_ = 0;  // tokens of the window whose text is known
  std::string text_;
  std::size_t settled_ = 0;
  std::string stopped_by_;
  std::vector<std::size_t> offsets_;
};

}  // namespace mpitron::inference
