// Random corpora and blends against a slow implementation of the reference's rules, written from
// their description: every token of every epoch is laid out, every draw is made on its own.
#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "data/gpt/gpt_index.h"
#include "data/index/blend.h"
#include "data/index/split.h"

namespace mpitron::data {
namespace random_corpora_test {

std::vector<Index> slow_shuffle(std::vector<Index> values, std::mt19937& random) {
  for (std::size_t i = values.size(); i-- > 1;) {
    std::uint32_t mask = 1;
    while (mask < i) {
      mask = mask << 1 | 1;
    }
    std::uint32_t draw;
    do {
      draw = static_cast<std::uint32_t>(random()) & mask;
    } while (draw > i);
    std::swap(values[i], values[draw]);
  }
  return values;
}

struct SlowIndex {
  std::vector<Index> documents, samples, shuffle;
};

std::vector<Index> joined(std::vector<Index> a, const std::vector<Index>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

SlowIndex slow_index(const std::vector<std::int32_t>& lengths, const GptIndexRequest& request) {
  std::vector<Index> all;
  Index tokens = 0;
  for (Index i = request.begin; i < request.end; ++i) {
    all.push_back(i);
    tokens += lengths[static_cast<std::size_t>(i)];
  }
  const Index s = request.seq_length;
  const Index extra = request.add_extra_token ? 1 : 0;
  Index epochs = 1;
  while (request.num_samples && epochs * tokens < *request.num_samples * s + extra) {
    ++epochs;
  }
  const Index before_last = ((epochs - 1) * tokens - extra) / s;
  bool separate = false;
  if (epochs > 1) {
    const Index in_last = *request.num_samples - before_last;
    separate = in_last < static_cast<Index>(0.80 * static_cast<double>((tokens - extra) / s));
  }
  std::mt19937 random(static_cast<std::uint32_t>(request.seed));
  std::vector<Index> tiled;
  for (Index e = 0; e + (separate ? 1 : 0) < epochs; ++e) {
    tiled = joined(tiled, all);
  }
  SlowIndex index;
  index.documents = slow_shuffle(tiled, random);
  if (separate) {
    index.documents = joined(index.documents, slow_shuffle(all, random));
  }
  std::vector<std::pair<Index, Index>> stream;  // (position, offset) of every token
  for (std::size_t d = 0; d < index.documents.size(); ++d) {
    for (Index t = 0; t < lengths[static_cast<std::size_t>(index.documents[d])]; ++t) {
      stream.emplace_back(static_cast<Index>(d), t);
    }
  }
  const Index count = (static_cast<Index>(stream.size()) - extra) / s;
  index.samples = {0, 0};
  for (Index i = 1; i <= count; ++i) {
    const auto [position, offset] = stream[static_cast<std::size_t>(i * s - (1 - extra))];
    index.samples.push_back(position);
    index.samples.push_back(offset + (1 - extra));
  }
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  const auto cut = order.begin() + (separate ? before_last : count);
  index.shuffle = slow_shuffle({order.begin(), cut}, random);
  if (separate) {
    index.shuffle = joined(index.shuffle, slow_shuffle({cut, order.end()}, random));
  }
  return index;
}

template <class T>
std::vector<Index> widened(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

GptIndexRequest request_of(const std::vector<std::int32_t>& lengths) {
  return {.lengths = {std::as_bytes(std::span(lengths)).data(), static_cast<Index>(lengths.size())},
          .end = static_cast<Index>(lengths.size())};
}

void compare(const std::vector<std::int32_t>& lengths, const GptIndexRequest& request) {
  const SlowIndex expected = slow_index(lengths, request);
  const GptIndexPlan plan = plan_gpt_index(request);
  RandomState random(static_cast<std::uint32_t>(request.seed));
  const auto documents = build_document_index<std::int32_t>(request, plan, random);
  const std::span<const std::int32_t> order(documents);
  ASSERT_EQ(widened(documents), expected.documents);
  ASSERT_EQ(widened(build_sample_index<std::int32_t>(request, plan, order)), expected.samples);
  ASSERT_EQ(widened(build_sample_index<std::int64_t>(request, plan, order)), expected.samples);
  ASSERT_EQ(widened(build_shuffle_index<std::uint32_t>(plan, random)), expected.shuffle);
}

TEST(RandomCorpora, HaveTheIndicesOfTheSlowImplementation) {
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i) {
    SCOPED_TRACE(i);
    // Many short documents, a few that are longer than many samples, empty ones; now and then one.
    std::vector<std::int32_t> lengths(i % 9 == 0 ? 1 : 2 + random() % 60);
    for (std::int32_t& length : lengths) {
      length = static_cast<std::int32_t>(random() % (random() % 5 == 0 ? 300 : 12));
    }
    lengths[0] += 40;
    GptIndexRequest request = request_of(lengths);
    request.seq_length = 1 + random() % 30;
    request.seed = random();
    request.add_extra_token = random() % 4 != 0;
    if (random() % 4 != 0) {
      request.num_samples = random() % 400;
    }
    if (lengths.size() > 4 && random() % 2 == 0) {  // a split: the first stays, for its tokens
      request.end -= random() % 4;
    }
    compare(lengths, request);
  }
}

/// 500 documents of 2^31 - 1 tokens: 10^12 in one epoch, no token of which exists.
TEST(RandomCorpora, NothingOverflowsAtATrillionTokens) {
  constexpr std::int32_t kLongest = std::numeric_limits<std::int32_t>::max();
  const std::vector<std::int32_t> lengths(500, kLongest);
  GptIndexRequest request = request_of(lengths);
  request.seq_length = 1 << 20;
  request.num_samples = 2000000;
  request.seed = 1;
  const GptIndexPlan plan = plan_gpt_index(request);
  const Index tokens = Index{500} * kLongest;
  EXPECT_EQ(plan.tokens_per_epoch, tokens);
  EXPECT_EQ(plan.epochs, (2000000 * request.seq_length + 1 + tokens - 1) / tokens);
  RandomState random(1);
  const auto documents = build_document_index<std::int32_t>(request, plan, random);
  const auto samples =
      build_sample_index<std::int32_t>(request, plan, std::span<const std::int32_t>(documents));
  ASSERT_EQ(samples.size(), 2 * static_cast<std::size_t>(plan.samples + 1));
  for (Index i = 0; i <= plan.samples; ++i) {
    const Index token = i * request.seq_length;
    ASSERT_EQ(samples[static_cast<std::size_t>(2 * i)], token / kLongest) << i;
    ASSERT_EQ(samples[static_cast<std::size_t>(2 * i + 1)], token % kLongest) << i;
  }
}

BlendIndex slow_blend(const std::vector<double>& weights, Index size) {
  BlendIndex index;
  std::vector<Index> taken(weights.size());
  for (Index i = 0; i < size; ++i) {
    std::size_t best = 0;
    for (std::size_t j = 1; j < weights.size(); ++j) {
      const auto lag = [&](std::size_t k) {
        const volatile double product = weights[k] * static_cast<double>(std::max(i, Index{1}));
        return product - static_cast<double>(taken[k]);
      };
      best = lag(j) > lag(best) ? j : best;
    }
    index.member.push_back(static_cast<std::int16_t>(best));
    index.sample.push_back(taken[best]++);
  }
  return index;
}

TEST(RandomBlends, HaveTheOrderOfTheSlowImplementation) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int i = 0; i < 120; ++i) {
    SCOPED_TRACE(i);
    std::vector<double> weights(i % 7 == 0 ? 2 : 1 + random() % 150);
    for (double& weight : weights) {
      weight = random() % 6 == 0 ? 0.001 : random() % 3 == 0 ? 1.0 : uniform(random);
    }
    weights = normalized(weights);
    const auto size = static_cast<Index>(random() % 3000);
    const BlendIndex expected = slow_blend(weights, size);
    const BlendIndex index = build_blend(weights, size);
    ASSERT_EQ(index.member, expected.member);
    ASSERT_EQ(index.sample, expected.sample);
  }
}

TEST(RandomBlends, TheExhaustiveOrderTakesEverySampleOnce) {
  std::mt19937 random(13);
  for (int i = 0; i < 60; ++i) {
    std::vector<Index> sizes(1 + random() % 50);
    for (Index& size : sizes) {
      size = static_cast<Index>(random() % (random() % 4 == 0 ? 500 : 5));
    }
    const BlendIndex index = build_exhaustive_blend(sizes);
    std::vector<Index> next(sizes.size());
    for (std::size_t k = 0; k < index.member.size(); ++k) {
      ASSERT_EQ(index.sample[k], next.at(static_cast<std::size_t>(index.member[k]))++);
    }
    EXPECT_EQ(next, sizes);
  }
}

TEST(Splits, NeverOverlapAndLeaveNothingOut) {
  for (const char* text : {"969, 30, 1", "1,0,0", "0,1,0", "0.999,0.001", "98,1,1", "1,1,1"}) {
    const SplitMatrix matrix = parse_split(text);
    for (const Index count : {Index{0}, Index{1}, Index{2}, Index{23}, Index{1000000000000}}) {
      Index end = 0;
      for (const Split split : kSplits) {
        if (matrix[split]) {
          const auto [first, last] = split_bounds(*matrix[split], count);
          EXPECT_EQ(first, end) << text << count;
          EXPECT_LE(first, last);
          end = last;
        }
      }
      EXPECT_EQ(end, count) << text;
    }
  }
}

}  // namespace random_corpora_test
}  // namespace mpitron::data
