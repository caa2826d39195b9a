#pragma once
#include <vector>

#include "inference/sampling/log_probs.h"

namespace mpitron::inference {

using tokenizers::TokenIds;

struct BeamRule {
  Index width = 1;
  Index tokens = 16;          // most of an answer
  TokenId stop = -1;          // ends a hypothesis, whose tokens lack it
  double length_penalty = 1;  // scores are sums of log-probabilities over length to this power
};

/// A continuation of the prompt and its score.
struct Hypothesis {
  TokenIds tokens;  // prompt, then answer
  double score = 0;
};

/// Searches the best continuations as Megatron-LM's text generation does it: each step keeps the
/// `width` likeliest open continuations; one that stops among the `width` best is a hypothesis, and
/// the search ends when there are `width` of these and the best open one is no better than the
/// worst of them.
class BeamSearch {
 public:
  /// `prompt` is not empty.
  BeamSearch(TokenIds prompt, const BeamRule& rule);

  /// Returns the number of tokens that are wanted behind each open continuation.
  Index wanted() const { return 2 * rule_.width; }
  /// Returns the open continuations; none when the search has ended.
  const std::vector<TokenIds>& open() const { return open_; }
  /// Takes the `wanted()` likeliest tokens behind each of open(), values descending.
  void take(const std::vector<std::vector<TokenLogProb>>& likeliest);
  /// Returns the best hypotheses, at most `width`, best first; once the search has ended.
  std::vector<Hypothesis> best() const;

 private:
  /// A token behind an open continuation.
  struct Candidate {
    std::size_t beam;
    TokenId token;
    float sum;
  };
  std::vector<Candidate> candidates(const std::vector<std::vector<TokenLogProb>>& likeliest) const;
  double score_of(float sum) const;
  void add(const TokenIds& tokens, float sum);
  bool finished(float best_sum) const;

  BeamRule rule_;
  Index length_ = 0;  // of answers, once the current step is taken
  std::vector<TokenIds> open_;
  std::vector<float> sums_;
  std::vector<Hypothesis> found_;
};

}  // namespace mpitron::inference
