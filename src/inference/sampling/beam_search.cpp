#include "inference/sampling/beam_search.h"

#include <algorithm>
#include <cmath>

#include "utils/check.h"

// Sums are kept in fp32 and sorted stably: equal ones keep the order of their beams and of each
// beam's likeliest tokens.

namespace mpitron::inference {

BeamSearch::BeamSearch(TokenIds prompt, const BeamRule& rule)
    : rule_(rule), open_{std::move(prompt)}, sums_{0} {}

double BeamSearch::score_of(float sum) const {
  return sum / static_cast<float>(std::pow(static_cast<double>(length_), rule_.length_penalty));
}

/// Adds a hypothesis and keeps the best `width`.
void BeamSearch::add(const TokenIds& tokens, float sum) {
  const double score = score_of(sum);
  const auto width = static_cast<std::size_t>(rule_.width);
  const auto worst = std::ranges::min_element(found_, {}, &Hypothesis::score);
  if (found_.size() < width) {
    found_.push_back({tokens, score});
  } else if (score > worst->score) {
    found_.erase(worst);
    found_.push_back({tokens, score});
  }
}

/// Tells whether the search has ended: there are `width` hypotheses, and the best open
/// continuation, at its length, is no better than the worst of them.
bool BeamSearch::finished(float best_sum) const {
  return static_cast<Index>(found_.size()) >= rule_.width &&
         std::ranges::min(found_, {}, &Hypothesis::score).score >= score_of(best_sum);
}

std::vector<BeamSearch::Candidate> BeamSearch::candidates(
    const std::vector<std::vector<TokenLogProb>>& likeliest) const {
  std::vector<Candidate> all;
  for (std::size_t beam = 0; beam < open_.size(); ++beam) {
    for (const TokenLogProb& next : likeliest[beam]) {
      all.push_back({beam, next.id, sums_[beam] + next.value});
    }
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &Candidate::sum);
  all.resize(std::min(all.size(), static_cast<std::size_t>(wanted())));
  return all;
}

void BeamSearch::take(const std::vector<std::vector<TokenLogProb>>& likeliest) {
  MPITRON_CHECK(likeliest.size() == open_.size(), likeliest.size(), open_.size());
  ++length_;
  const std::vector<Candidate> best = candidates(likeliest);
  const auto width = static_cast<std::size_t>(rule_.width);
  std::vector<TokenIds> open;
  std::vector<float> sums;
  for (std::size_t rank = 0; rank < best.size() && open.size() < width; ++rank) {
    const Candidate& next = best[rank];
    if (next.token != rule_.stop) {
      open.push_back(open_[next.beam]);
      open.back().push_back(next.token);
      sums.push_back(next.sum);
    } else if (rank < width) {
      add(open_[next.beam], next.sum);
    }
  }
  const bool done = best.empty() || finished(best.front().sum);
  open_ = std::move(open);
  sums_ = std::move(sums);
  if (!done && length_ >= rule_.tokens) {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      add(open_[i], sums_[i]);
    }
  }
  if (done || length_ >= rule_.tokens) {
    open_.clear();
  }
}

std::vector<Hypothesis> BeamSearch::best() const {
  std::vector<Hypothesis> sorted = found_;
  std::ranges::stable_sort(sorted, std::ranges::greater(), &Hypothesis::score);
  return sorted;
}

}  // namespace mpitron::inference
