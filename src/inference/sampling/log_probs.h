#pragma once
#include <span>
#include <vector>

#include "tokenizers/core/tokenizer.h"

namespace mpitron::inference {

using tokenizers::TokenId;

struct TokenLogProb {
  TokenId id = 0;
  float value = 0;
};

/// A token's log-probability and the likeliest tokens in its place.
struct TokenLogProbs {
  TokenLogProb token;
  std::vector<TokenLogProb> top;  // values descending, lower id first among equals
};

/// From raw logits, before any rule: minus the mean of a prompt's values is the training loss. The
/// sum runs over all columns in double, also those that pad the vocabulary; `top` lists true ids
/// only.
TokenLogProbs log_probs(std::span<const float> logits, TokenId token, Index vocabulary, Index top);

}  // namespace mpitron::inference
