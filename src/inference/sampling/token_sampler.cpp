#include "inference/sampling/token_sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>

#include "kernels/elementwise/nucleus.h"
#include "utils/numbers/philox.h"

// From logits to a token: penalties and biases, allowed tokens, temperature, top-k, top-p, draw.
// Nothing sorts the vocabulary: thresholds are found by selecting within blocks, since most tokens
// are far below them.

namespace mpitron::inference {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Returns top_p after as many tokens as the answer has.
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

/// Tells whether the rule leaves the logits behind so many tokens of an answer as they are: then
/// the greedy path needs no copy in double.
bool keeps_logits(const SamplingRule& rule, std::size_t tokens) {
  return rule.bias.empty() && rule.repetition_penalty == 1 && rule.presence_penalty == 0 &&
         rule.frequency_penalty == 0 && rule.banned.empty() && !rule.never_after &&
         (static_cast<Index>(tokens) >= rule.min_tokens || rule.stop_ids.empty());
}

template <class T>
device::ConstTensorView view_of(std::span<const T> values) {
  return {values.data(), dtype_of<T>(), {static_cast<Index>(values.size())}};
}
template <class T>
device::TensorView view_of(std::vector<T>& values) {
  return {values.data(), dtype_of<T>(), {static_cast<Index>(values.size())}};
}

/// Returns the numbers that the search for a nucleus needs beside so many weights.
std::size_t workspace_of(std::size_t weights) {
  const kernels::NucleusBorder kernel{
      .weights = device::ConstTensorView(nullptr, DType::f64, {static_cast<Index>(weights)}),
      .sums = {},
      .border = {},
      .workspace = {}};
  return static_cast<std::size_t>(workspace_bytes(device::HostStream(), kernel)) / sizeof(double);
}

/// Returns the first id of a block and the one behind its last.
std::pair<std::ptrdiff_t, std::ptrdiff_t> ids_of_block(std::size_t block, std::size_t count) {
  constexpr auto kSize = static_cast<std::size_t>(kernels::kTokenBlock);
  return {static_cast<std::ptrdiff_t>(block * kSize),
          static_cast<std::ptrdiff_t>(std::min(count, (block + 1) * kSize))};
}

/// Returns the lowest id of those with the largest value.
template <class T>
TokenId first_largest(std::span<const T> values, std::span<const T> maxima) {
  const auto block = std::ranges::max_element(maxima);
  const auto ids = ids_of_block(static_cast<std::size_t>(block - maxima.begin()), values.size());
  const auto found = std::find(values.begin() + ids.first, values.begin() + ids.second, *block);
  const std::ptrdiff_t id = found - values.begin();
  return static_cast<TokenId>(std::min(id, std::ssize(values) - 1));  // all may be NaN
}

}  // namespace

TokenSampler::TokenSampler(Index vocabulary)
    : vocabulary_(vocabulary),
      maxima_(static_cast<std::size_t>(kernels::token_blocks(vocabulary))),
      weights_(static_cast<std::size_t>(vocabulary)),
      sums_(maxima_.size()),
      workspace_(workspace_of(weights_.size())) {}

double uniform_draw(std::uint64_t seed, std::uint32_t choice, std::uint32_t position) {
  const Philox::Counter words =
      Philox::generate({position, choice, 0, 1},
                       {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  const std::uint64_t bits = (std::uint64_t{words[0]} << 32 | words[1]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

/// Applies the repetition penalty to ids of prompt and answer, presence and frequency penalties to
/// those of the answer; each id once.
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

/// Applies biases, penalties and then what is forbidden: ends before `min_tokens`, banned ids, and
/// an id that may not follow the last one.
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

/// Makes ids outside of a mask impossible, a word of 64 ids at a time.
void TokenSampler::keep_allowed(TokenMask allowed) {
  constexpr std::size_t kBits = 64;
  for (std::size_t begin = 0; begin < logits_.size() && !allowed.empty(); begin += kBits) {
    const std::uint64_t word = begin / kBits < allowed.size() ? allowed[begin / kBits] : 0;
    const std::size_t count = std::min(kBits, logits_.size() - begin);
    for (std::size_t i = 0; i < count && word != ~std::uint64_t{0}; ++i) {
      if ((word >> i & 1) == 0) {
        logits_[begin + i] = kImpossible;
      }
    }
  }
}

/// Finds the largest of all logits as they are.
void TokenSampler::take_largest(std::span<const float> logits) {
  float_maxima_.resize(maxima_.size());
  device::launch(stream_,
                 kernels::BlockMaxima{.x = view_of(logits), .maxima = view_of(float_maxima_)});
  const TokenId id = first_largest(logits, std::span<const float>(float_maxima_));
  std::ranges::copy(float_maxima_, maxima_.begin());
  only_best_ = true;
  best_ = {id, logits[static_cast<std::size_t>(id)], 1};
}

/// Finds the largest of logits after what the rule made of them.
void TokenSampler::take_largest_adjusted() {
  const std::span<const double> logits = logits_;
  device::launch(stream_, kernels::BlockMaxima{.x = view_of(logits), .maxima = view_of(maxima_)});
  const TokenId id = first_largest(logits, std::span<const double>(maxima_));
  only_best_ = true;
  best_ = {id, logits_[static_cast<std::size_t>(id)], 1};
}

/// Weighs logits, whose largest is `best_`, and divides them and their maxima by the
/// temperature.
void TokenSampler::weigh(const device::ConstTensorView& logits, double temperature) {
  only_best_ = false;
  for (double& most : maxima_) {
    most /= temperature;
  }
  device::launch(stream_, kernels::TokenWeights{.x = logits,
                                                .weights = view_of(weights_),
                                                .scaled = view_of(logits_),
                                                .sums = view_of(sums_),
                                                .temperature = temperature,
                                                .largest = best_.logit});
}

/// Returns the `count`-th largest logit. As many blocks have one at least as large as their own
/// maximum, so only logits from the `count`-th largest maximum on need to be looked at.
double TokenSampler::kth_largest(Index count) {
  const auto rank = static_cast<std::ptrdiff_t>(count - 1);
  double least = kImpossible;
  if (count <= static_cast<Index>(maxima_.size())) {
    largest_.assign(maxima_.begin(), maxima_.end());
    std::ranges::nth_element(largest_, largest_.begin() + rank, std::greater<>());
    least = largest_[static_cast<std::size_t>(rank)];
  }
  largest_.clear();
  for (std::size_t block = 0; block < maxima_.size(); ++block) {
    if (maxima_[block] >= least) {
      const auto ids = ids_of_block(block, logits_.size());
      std::copy_if(logits_.begin() + ids.first, logits_.begin() + ids.second,
                   std::back_inserter(largest_), [&](double logit) { return logit >= least; });
    }
  }
  std::ranges::nth_element(largest_, largest_.begin() + rank, std::greater<>());
  return largest_[static_cast<std::size_t>(rank)];
}

/// Gives tokens below the threshold the weight 0, and skips blocks whose maximum is below it.
void TokenSampler::drop_below(const Threshold& least) {
  for (std::size_t block = 0; block < sums_.size(); ++block) {
    if (maxima_[block] < least.logit) {
      sums_[block] = 0;  // its weights are not looked at any more
      continue;
    }
    const auto ids = ids_of_block(block, logits_.size());
    double sum = 0;
    for (auto i = static_cast<std::size_t>(ids.first); i < static_cast<std::size_t>(ids.second);
         ++i) {
      if (logits_[i] < least.logit || weights_[i] < least.weight) {
        weights_[i] = 0;
      }
      sum += weights_[i];
    }
    sums_[block] = sum;
  }
}

double TokenSampler::total() const {
  return std::accumulate(sums_.begin(), sums_.end(), 0.0);
}

/// Keeps the likeliest tokens up to the one whose weight brings their mass beyond top_p; the order
/// is that of logits, then of ids.
void TokenSampler::keep_mass(double top_p) {
  const double limit = top_p * total();
  std::array<double, 3> border{};
  device::launch(
      stream_, kernels::NucleusBorder{.weights = view_of(std::span<const double>(weights_)),
                                      .sums = view_of(std::span<const double>(sums_)),
                                      .border = device::TensorView(border.data(), DType::f64, {3}),
                                      .workspace = view_of(workspace_),
                                      .mass = limit});
  const auto [least, heavier, alike] = border;
  if (alike > 1) {
    drop_alike(least, limit - heavier);
  }
  device::launch(
      stream_,
      kernels::KeepWeights{.weights = view_of(weights_), .sums = view_of(sums_), .least = least});
}

/// Of tokens that weigh as much as this those stay whose weights before them are not above the
/// mass.
void TokenSampler::drop_alike(double weight, double mass) {
  std::int64_t count = 0;
  alike_ids_.resize(weights_.size());
  device::launch(stream_,
                 kernels::AlikeWeights{.weights = view_of(std::span<const double>(weights_)),
                                       .sums = view_of(std::span<const double>(sums_)),
                                       .ids = view_of(alike_ids_),
                                       .count = device::TensorView(&count, DType::i64, {1}),
                                       .weight = weight});
  alike_.clear();
  for (const std::int64_t id : std::span(alike_ids_).first(static_cast<std::size_t>(count))) {
    alike_.push_back({static_cast<TokenId>(id), logits_[static_cast<std::size_t>(id)], weight});
  }
  if (!std::ranges::is_sorted(alike_, std::greater<>(), &Candidate::logit)) {
    std::ranges::stable_sort(alike_, std::greater<>(), &Candidate::logit);
  }
  double before = 0;
  for (const Candidate& candidate : alike_) {
    if (before > mass) {
      weights_[static_cast<std::size_t>(candidate.id)] = 0;
    }
    before += weight;
  }
}

std::optional<TokenId> TokenSampler::sample(std::span<const float> logits, const SamplingRule& rule,
                                            std::span<const TokenId> prompt,
                                            std::span<const TokenId> answer, TokenMask allowed) {
  const std::span<const float> known = logits.first(static_cast<std::size_t>(vocabulary_));
  const bool as_they_are = allowed.empty() && keeps_logits(rule, answer.size());
  if (as_they_are) {
    take_largest(known);
  } else {
    logits_.assign(known.begin(), known.end());
    adjust(rule, prompt, answer);
    keep_allowed(allowed);
    take_largest_adjusted();
  }
  if (best_.logit == kImpossible) {
    return std::nullopt;
  }
  if (rule.temperature <= 0 || rule.top_k == 1) {
    return best_.id;
  }
  logits_.resize(known.size());
  weigh(as_they_are ? view_of(known) : view_of(std::span<const double>(logits_)), rule.temperature);
  if (rule.min_p > 0 || (rule.top_k > 0 && rule.top_k < vocabulary_)) {
    const double least =
        rule.top_k > 0 && rule.top_k < vocabulary_ ? kth_largest(rule.top_k) : kImpossible;
    drop_below({least, rule.min_p});
  }
  if (const double top_p = top_p_now(rule, answer.size()); top_p < 1) {
    keep_mass(top_p);
  }
  const auto position = static_cast<std::uint32_t>(prompt.size() + answer.size());
  return draw(uniform_draw(rule.seed, rule.choice, position));
}

std::vector<TokenSampler::Candidate> TokenSampler::candidates() const {
  if (only_best_) {
    return {best_};
  }
  std::vector<Candidate> kept;
  for (std::size_t id = 0; id < weights_.size(); ++id) {
    if (sums_[id / kernels::kTokenBlock] > 0 && weights_[id] > 0) {
      kept.push_back({static_cast<TokenId>(id), logits_[id], weights_[id]});
    }
  }
  return kept;
}

TokenId TokenSampler::draw(double uniform) const {
  if (only_best_) {
    return best_.id;
  }
  const double wanted = uniform * total();
  double sum = 0;
  TokenId last = 0;
  for (std::size_t block = 0; block < sums_.size(); ++block) {
    if (sum + sums_[block] <= wanted || sums_[block] == 0) {
      sum += sums_[block];
      continue;
    }
    const auto ids = ids_of_block(block, logits_.size());
    for (std::ptrdiff_t i = ids.first; i < ids.second; ++i) {
      const double weight = weights_[static_cast<std::size_t>(i)];
      sum += weight;
      last = weight > 0 ? static_cast<TokenId>(i) : last;
      if (weight > 0 && sum > wanted) {
        return last;
      }
    }
  }
  return last;
}

}  // namespace mpitron::inference
