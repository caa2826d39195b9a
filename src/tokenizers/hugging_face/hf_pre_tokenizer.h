#pragma once
#include <functional>

#include "tokenizers/text/json_view.h"
#include "tokenizers/text/text_pieces.h"

namespace mpitron::tokenizers {

/// How a text is cut before the model sees it.
struct HfPreTokenizer {
  std::function<void(TextPieces&)> cut;  // empty: not at all
  /// The model's tokens are in GPT-2's byte alphabet; pieces stay bytes.
  bool byte_level = false;
};

/// The `pre_tokenizer` of a tokenizer.json. Error(data) with the JSON path for a kind that is not
/// supported.
HfPreTokenizer make_hf_pre_tokenizer(const JsonView& spec);

}  // namespace mpitron::tokenizers
