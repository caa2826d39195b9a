#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/core/tokenizer.h"
#include "tokenizers/hugging_face/hf_steps.h"
#include "tokenizers/text/json_view.h"
#include "tokenizers/text/marker_finder.h"

namespace mpitron::tokenizers {

/// The `added_tokens` of a tokenizer.json: strings that become one id wherever they stand in a
/// text, some of them before the text is normalised, some after.
class HfAddedTokens {
 public:
  /// An entry of the list, by its names there.
  struct Token {
    std::string content;
    TokenId id = 0;
    bool single_word = false;
    bool lstrip = false;
    bool rstrip = false;
    bool normalized = true;
    bool special = false;
  };

  /// Takes a text between the tokens (not empty), and whether the whole text begins with it.
  using TextHandler = std::function<void(std::string_view, bool)>;
  using TokenHandler = std::function<void(TokenId)>;

  /// Reads the list; null is an empty one. Error(data) of JsonView for ids that cannot be.
  HfAddedTokens(const JsonView& list, const TextRule& normalizer);

  const std::vector<Token>& tokens() const { return tokens_; }

  /// Cuts `text` at the tokens that are (`normalized`), or are not, looked for after normalisation,
  /// and calls the handlers in the order of the text.
  void split(std::string_view text, bool at_start, bool normalized, const TextHandler& on_text,
             const TokenHandler& on_token) const;

 private:
  struct Group {
    std::vector<std::size_t> members;
    MarkerFinder finder;
  };

  Group make_group(bool normalized, const TextRule& normalizer) const;

  std::vector<Token> tokens_;
  Group raw_;
  Group normalized_;
};

}  // namespace mpitron::tokenizers
