#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/core/tokenizer.h"
#include "tokenizers/text/json_view.h"
#include "tokenizers/text/text_pieces.h"

namespace mpitron::tokenizers {

/// Returns the byte that a token like <0x0A> stands for where a decoder has ByteFallback; -1 for
/// others.
int fallback_byte(std::string_view token);

/// Rewrites a list of tokens on its way back to text.
using TokenRule = std::function<void(std::vector<std::string>&)>;

/// Makes the decoder ByteFallback, which turns such tokens into text.
TokenRule make_byte_fallback(const JsonView& spec);

/// Makes the `decoder` of a tokenizer.json; an empty function for null (tokens with spaces between
/// them). Error(data) with the JSON path for a kind that is not supported.
TokenRule make_hf_decoder(const JsonView& spec);

/// Rewrites a text (valid UTF-8) before it is cut.
using TextRule = std::function<void(std::string&)>;

/// Makes the `normalizer` of a tokenizer.json; an empty function for null. Error(data) with the
/// JSON path for a kind that is not supported.
TextRule make_hf_normalizer(const JsonView& spec);

/// Ids that a single text gets in front of its own and behind them.
struct HfPostProcessor {
  TokenIds before;
  TokenIds after;
};

/// Makes the `post_processor` of a tokenizer.json. Error(data) with the JSON path for a kind that
/// is not supported.
HfPostProcessor make_hf_post_processor(const JsonView& spec);

/// A rule that cuts a text before the model sees it.
struct HfPreTokenizer {
  std::function<void(TextPieces&)> cut;  // empty: not at all
  /// The model's tokens are in GPT-2's byte alphabet; pieces stay bytes.
  bool byte_level = false;
};

/// Makes the `pre_tokenizer` of a tokenizer.json. Error(data) with the JSON path for a kind that is
/// not supported.
HfPreTokenizer make_hf_pre_tokenizer(const JsonView& spec);

}  // namespace mpitron::tokenizers
