#pragma once
#include <span>
#include <vector>

#include "device/launch.h"
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

/// Computes log-probabilities from raw logits, before any rule: minus the mean of a prompt's values
/// is the training loss. The sum runs over all columns in double, also those that pad the
/// vocabulary; likeliest tokens are true ids only.
class LogProbs {
 public:
  explicit LogProbs(Index vocabulary) : vocabulary_(vocabulary) {}

  /// Returns the log-probability of `token` and of the `top` likeliest.
  TokenLogProbs of(std::span<const float> logits, TokenId token, Index top);

 private:
  void find_likeliest(std::span<const float> logits, Index count);

  Index vocabulary_;
  device::Stream stream_ = device::HostStream{};
  std::vector<float> maxima_, values_;
  std::vector<double> sums_;
  std::vector<TokenId> ids_;
};

}  // namespace mpitron::inference
