#include "data/index/blend.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "data/index/blend_picker.h"
#include "utils/error.h"

// Blends of corpora: reads the words of --data-path, and chooses for every sample of a blend the
// corpus that it comes from, as the reference does.

namespace mpitron::data {
namespace {

std::optional<double> as_number(const std::string& word) {
  double value = 0.0;
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  return error == std::errc{} && rest == end ? std::optional(value) : std::nullopt;
}

/// Sums as numpy.sum: eight running sums per block of up to 128 values, halves of longer arrays
/// added. Weights are divided by it, and the reference's last bits decide ties.
double pairwise_sum(std::span<const double> x) {
  if (x.size() > 128) {
    const std::size_t half = x.size() / 2 / 8 * 8;
    return pairwise_sum(x.first(half)) + pairwise_sum(x.subspan(half));
  }
  std::size_t i = 0;
  double total = 0.0;
  if (x.size() >= 8) {
    double r[8] = {};
    std::copy_n(x.begin(), 8, r);
    for (i = 8; i + 8 <= x.size(); i += 8) {
      for (std::size_t k = 0; k < 8; ++k) {
        r[k] += x[i + k];
      }
    }
    total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  }
  return std::accumulate(x.begin() + static_cast<std::ptrdiff_t>(i), x.end(), total);
}

/// Finds a number in front of every prefix, and one more at the end: a forgotten prefix.
bool pairs_but_for_one(std::span<const std::string> words) {
  bool numbers = words.size() > 2 && words.size() % 2 == 1;
  for (std::size_t i = 0; numbers && i < words.size(); i += 2) {
    numbers = as_number(words[i]).has_value();
  }
  return numbers;
}

}  // namespace

/// Takes weights and prefixes by turns, or prefixes alone: who reads them weighs these by their
/// sizes.
Blend parse_blend(std::span<const std::string> words) {
  Blend blend;
  bool weighted = words.size() % 2 == 0;
  for (std::size_t i = 0; weighted && i < words.size(); i += 2) {
    weighted = as_number(words[i]).has_value();
  }
  if (!weighted && pairs_but_for_one(words)) {
    throw_usage(
        "--data-path: {} words: weights and prefixes do not pair; give 0.5 A 0.5 B, or "
        "prefixes alone",
        words.size());
  }
  if (!weighted) {
    blend.prefixes.assign(words.begin(), words.end());
    return blend;
  }
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const double weight = *as_number(words[i]);
    if (!(weight >= 0.0) || !std::isfinite(weight)) {
      throw_usage("--data-path: the weight of {} is {}; weights are numbers from 0 on",
                  words[i + 1], words[i]);
    }
    blend.weights.push_back(weight);
    blend.prefixes.push_back(words[i + 1]);
  }
  if (!words.empty() && !(pairwise_sum(blend.weights) > 0.0)) {
    throw_usage("--data-path: all weights are 0; at least one must be positive");
  }
  return blend;
}

std::vector<double> normalized(std::span<const double> weights) {
  const double total = pairwise_sum(weights);
  std::vector<double> result;
  for (const double weight : weights) {
    result.push_back(weight / total);
  }
  return result;
}

/// Rounds a member's share up and adds a surplus, since the blend's choices are not exact shares.
Index member_samples(Index size, double weight, double surplus) {
  return static_cast<Index>(
      std::ceil(std::ceil(static_cast<double>(size) * weight) * (1.0 + surplus)));
}

Index blended_size(Index size, std::span<const double> weights) {
  Index total = 0;
  for (const double weight : weights) {
    total += static_cast<Index>(std::ceil(static_cast<double>(size) * weight));
  }
  return total;
}

/// Takes, sample by sample, the member that lags most behind its weight (the reference's greedy
/// rule).
BlendIndex build_blend(std::span<const double> weights, Index size) {
  MPITRON_CHECK(weights.size() < std::size_t{1} << 15, weights.size());
  BlendIndex index;
  index.member.reserve(static_cast<std::size_t>(size));
  index.sample.reserve(static_cast<std::size_t>(size));
  BlendPicker picker(weights);
  for (Index i = 0; i < size; ++i) {
    const std::size_t best = picker.pick(i);
    index.member.push_back(static_cast<std::int16_t>(best));
    index.sample.push_back(picker.taken(best) - 1);
  }
  return index;
}

/// Takes every sample of every member once; a member without any left is out.
BlendIndex build_exhaustive_blend(std::span<const Index> sizes) {
  MPITRON_CHECK(sizes.size() < std::size_t{1} << 15, sizes.size());
  const Index total = std::accumulate(sizes.begin(), sizes.end(), Index{0});
  std::vector<double> weights;
  for (const Index size : sizes) {
    weights.push_back(static_cast<double>(size) / static_cast<double>(total));
  }
  BlendPicker picker(weights);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      picker.close(i);
    }
  }
  BlendIndex index;
  index.member.reserve(static_cast<std::size_t>(total));
  index.sample.reserve(static_cast<std::size_t>(total));
  for (Index i = 0; i < total; ++i) {
    const std::size_t best = picker.pick(i);
    index.member.push_back(static_cast<std::int16_t>(best));
    index.sample.push_back(picker.taken(best) - 1);
    if (picker.taken(best) == sizes[best]) {
      picker.close(best);
    }
  }
  return index;
}

}  // namespace mpitron::data
