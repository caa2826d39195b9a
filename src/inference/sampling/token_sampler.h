#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "device/launch.h"
#include "inference/sampling/token_constraint.h"

namespace mpitron::inference {

using tokenizers::TokenIds;

/// Settings of how a request's tokens are drawn. The defaults draw from the model's own
/// distribution.
struct SamplingRule {
  double temperature = 1;  // 0: the largest logit
  Index top_k = 0;         // 0: all; 1: the largest logit
  double top_p = 1;
  double min_p = 0;
  double repetition_penalty = 1;  // divides (or multiplies) logits of ids seen before
  double presence_penalty = 0;    // subtracted once for ids of the answer
  double frequency_penalty = 0;   // subtracted for every occurrence in the answer
  std::vector<std::pair<TokenId, double>> bias;
  TokenIds banned;
  TokenIds stop_ids;  // impossible until the answer has `min_tokens`
  Index min_tokens = 0;
  std::optional<std::pair<TokenId, TokenId>> never_after;  // {last token, forbidden next}
  double top_p_decay = 0;  // factor of top_p after each token; 0: none
  double top_p_bound = 0;  // least top_p under decay
  std::uint64_t seed = 0;
  std::uint32_t choice = 0;  // index of the answer in its reply
};

/// Draws a token from fp32 logits, in double unless the largest is taken as it is. A draw is a pure
/// function of (seed, choice, position), so that a token depends on nothing but the logits, the
/// request and the tokens before it. Ids at or above the true vocabulary never come out.
class TokenSampler {
 public:
  explicit TokenSampler(Index vocabulary);

  /// Returns the token behind prompt and answer, one of `allowed`; `logits` has at least
  /// `vocabulary` values. Nothing where the rule leaves none.
  std::optional<TokenId> sample(std::span<const float> logits, const SamplingRule& rule,
                                std::span<const TokenId> prompt, std::span<const TokenId> answer,
                                TokenMask allowed = {});

  struct Candidate {
    TokenId id;
    double logit;
    double weight;  // exp(logit - largest); probabilities after division by their sum
  };
  /// Returns what the filters left of the last call, ids ascending; for tests and replays.
  std::vector<Candidate> candidates() const;
  /// Returns the first of them whose running sum of weights is above `uniform` times the sum of
  /// all.
  TokenId draw(double uniform) const;

 private:
  /// Least logit and weight of tokens that stay.
  struct Threshold {
    double logit, weight;
  };
  void adjust(const SamplingRule& rule, std::span<const TokenId> prompt,
              std::span<const TokenId> answer);
  void keep_allowed(TokenMask allowed);
  void punish(const SamplingRule& rule, std::span<const TokenId> prompt,
              std::span<const TokenId> answer);
  void take_largest(std::span<const float> logits);
  void take_largest_adjusted();
  void weigh(const device::ConstTensorView& logits, double temperature);
  double kth_largest(Index count);
  void drop_below(const Threshold& least);
  double total() const;
  void keep_mass(double top_p);
  void drop_alike(double weight, double mass);

  Index vocabulary_;
  device::Stream stream_ = device::HostStream{};
  std::vector<double> logits_, maxima_;  // of ids and of blocks of ids
  std::vector<double> weights_, sums_;   // the same; what was dropped weighs 0
  std::vector<float> float_maxima_;
  std::vector<double> largest_;
  std::vector<int> counts_;
  std::vector<double> workspace_;
  std::vector<std::int64_t> alike_ids_;
  std::vector<Candidate> alike_;  // as likely as the last one of a nucleus
  Candidate best_ = {};           // with the largest logit
  bool only_best_ = true;         // and nothing else is kept
};

/// Returns the number in [0, 1) that decides the token at `position` of prompt and answer: 53 bits
/// of Philox4x32-10 with key `seed` and counter {position, choice, 0, 1}.
double uniform_draw(std::uint64_t seed, std::uint32_t choice, std::uint32_t position);

}  // namespace mpitron::inference
