#include "inference/sampling/token_sampler.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "utils/numbers/philox.h"

namespace mpitron::inference {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// top_p after as many tokens as the answer has.
double top_p_now(const SamplingRule& rule, std::size_t tokens) {
  double top_p = rule.top_p;
  for (std::size_t i = 0; i < tokens && rule.top_p_decay > 0; ++i) {
    top_p *= rule.top_p_decay;
    if (rule.top_p_bound > 0 && top_p <= rule.top_p_bound) {
      return rule.top_p_bound;
    }
  }
  return top_p;
}

}  // namespace

double uniform_draw(std::uint64_t seed, std::uint32_t choice, std::uint32_t position) {
  const Philox::Counter words =
      Philox::generate({position, choice, 0, 1},
                       {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  const std::uint64_t bits = (std::uint64_t{words[0]} << 32 | words[1]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

void TokenSampler::punish(const SamplingRule& rule, std::span<const TokenId> prompt,
                          std::span<const TokenId> answer) {
  counts_.assign(static_cast<std::size_t>(vocabulary_), 0);
  const auto seen = [&](std::span<const TokenId> ids, bool of_answer) {
    for (const TokenId id : ids) {
      if (id < 0 || id >= vocabulary_) {
        continue;
      }
      const auto i = static_cast<std::size_t>(id);
      if (counts_[i] == 0 && rule.repetition_penalty != 1) {
        logits_[i] = logits_[i] > 0 ? logits_[i] / rule.repetition_penalty
                                    : logits_[i] * rule.repetition_penalty;
      }
      counts_[i] += counts_[i] == 0;  // the first time
      if (of_answer) {
        ++counts_[i];
      }
    }
  };
  seen(answer, true);  // so that counts_ - 1 is the frequency in the answer
  seen(prompt, false);
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > 1) {
      logits_[i] -= rule.presence_penalty + rule.frequency_penalty * (counts_[i] - 1);
    }
  }
}

void TokenSampler::adjust(const SamplingRule& rule, std::span<const TokenId> prompt,
                          std::span<const TokenId> answer) {
  const auto forbid = [&](TokenId id) {
    if (id >= 0 && id < vocabulary_) {
      logits_[static_cast<std::size_t>(id)] = kImpossible;
    }
  };
  for (const auto& [id, value] : rule.bias) {
    if (id >= 0 && id < vocabulary_) {
      logits_[static_cast<std::size_t>(id)] += value;
    }
  }
  if (rule.repetition_penalty != 1 || rule.presence_penalty != 0 || rule.frequency_penalty != 0) {
    punish(rule, prompt, answer);
  }
  if (static_cast<Index>(answer.size()) < rule.min_tokens) {
    std::ranges::for_each(rule.stop_ids, forbid);
  }
  std::ranges::for_each(rule.banned, forbid);
  const std::span<const TokenId> last = answer.empty() ? prompt : answer;
  if (rule.never_after && !last.empty() && last.back() == rule.never_after->first) {
    forbid(rule.never_after->second);
  }
}

void TokenSampler::keep_allowed(TokenMask allowed) {
  for (std::size_t i = 0; i < logits_.size() && !allowed.empty(); ++i) {
    if (!in_mask(allowed, static_cast<TokenId>(i))) {
      logits_[i] = kImpossible;
    }
  }
}

TokenId TokenSampler::largest() {
  const auto best = std::ranges::max_element(logits_);
  const auto id = static_cast<TokenId>(best - logits_.begin());
  candidates_.assign(1, {id, *best, 1});
  return id;
}

void TokenSampler::keep_largest(Index count) {
  if (count <= 0 || count >= static_cast<Index>(candidates_.size())) {
    return;
  }
  sorted_.clear();
  for (const Candidate& candidate : candidates_) {
    sorted_.push_back(candidate.logit);
  }
  const auto last = sorted_.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::ranges::nth_element(sorted_, last, std::greater<>());
  std::erase_if(candidates_, [&](const Candidate& c) { return c.logit < *last; });
}

void TokenSampler::keep_mass(double top_p) {
  double total = 0;
  for (const Candidate& candidate : candidates_) {
    total += candidate.weight;
  }
  std::ranges::stable_sort(candidates_, std::greater<>(), &Candidate::logit);
  double before = 0;
  std::size_t kept = 0;
  while (kept < candidates_.size() && before <= top_p * total) {
    before += candidates_[kept++].weight;
  }
  candidates_.resize(kept);
  std::ranges::sort(candidates_, std::less<>(), &Candidate::id);
}

std::optional<TokenId> TokenSampler::sample(std::span<const float> logits, const SamplingRule& rule,
                                            std::span<const TokenId> prompt,
                                            std::span<const TokenId> answer, TokenMask allowed) {
  const std::span<const float> known = logits.first(static_cast<std::size_t>(vocabulary_));
  logits_.assign(known.begin(), known.end());
  adjust(rule, prompt, answer);
  keep_allowed(allowed);
  const TokenId best = largest();
  const double top = logits_[static_cast<std::size_t>(best)];
  if (top == kImpossible) {
    return std::nullopt;
  }
  if (rule.temperature <= 0 || rule.top_k == 1) {
    return best;
  }
  candidates_.clear();
  const double largest_scaled = top / rule.temperature;
  for (std::size_t i = 0; i < logits_.size(); ++i) {
    const double logit = logits_[i] / rule.temperature;
    const double weight = std::exp(logit - largest_scaled);
    if (logit > kImpossible && weight >= rule.min_p) {
      candidates_.push_back({static_cast<TokenId>(i), logit, weight});
    }
  }
  keep_largest(rule.top_k);
  if (const double top_p = top_p_now(rule, answer.size()); top_p < 1) {
    keep_mass(top_p);
  }
  const auto position = static_cast<std::uint32_t>(prompt.size() + answer.size());
  return draw(uniform_draw(rule.seed, rule.choice, position));
}

TokenId TokenSampler::draw(double uniform) const {
  double total = 0;
  for (const Candidate& candidate : candidates_) {
    total += candidate.weight;
  }
  double sum = 0;
  for (const Candidate& candidate : candidates_) {
    sum += candidate.weight;
    if (sum > uniform * total) {
      return candidate.id;
    }
  }
  return candidates_.back().id;
}

}  // namespace mpitron::inference
