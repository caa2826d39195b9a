#pragma once
#include "tokenizers/core/tokenizer.h"
#include "tokenizers/text/json_view.h"

namespace mpitron::tokenizers {

/// What a single text gets in front of its ids and behind them.
struct HfPostProcessor {
  TokenIds before;
  TokenIds after;
};

/// The `post_processor` of a tokenizer.json. Error(data) with the JSON path for a kind that is not
/// supported.
HfPostProcessor make_hf_post_processor(const JsonView& spec);

}  // namespace mpitron::tokenizers
