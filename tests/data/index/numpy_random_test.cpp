#include "data/index/numpy_random.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden_json.h"

namespace mpitron::data {
namespace numpy_random_test {

std::vector<std::int64_t> shuffled(RandomState& state, std::size_t n) {
  std::vector<std::int64_t> values(n);
  std::iota(values.begin(), values.end(), 0);
  state.shuffle(std::span(values));
  return values;
}

template <class Draw>
auto draws(const nlohmann::json& expected, Draw&& draw) {
  std::vector<decltype(draw())> values(expected.size());
  for (auto& value : values) {
    value = draw();
  }
  return values;
}

TEST(RandomState, ReproducesEveryReferenceDraw) {
  if (!test::has_golden("tables.json")) {
    GTEST_SKIP() << "the reference data have no tables.json";
  }
  const auto cases = test::golden_json("tables.json")["random_numbers"]["numpy"];
  ASSERT_GE(cases.size(), 4u);
  const std::vector<double> thirds{1.0, 1.0 / 2, 1.0 / 3};
  for (const auto& expected : cases) {
    RandomState state(expected["seed"]);
    EXPECT_EQ(draws(expected["random"], [&] { return state.random(); }), expected["random"]);
    EXPECT_EQ(draws(expected["randint_0_10"], [&] { return state.randint(0, 10); }),
              expected["randint_0_10"]);
    EXPECT_EQ(draws(expected["randint_1_7"], [&] { return state.randint(1, 7); }),
              expected["randint_1_7"]);
    EXPECT_EQ(shuffled(state, 20), expected["shuffle_20"]);
    EXPECT_EQ(shuffled(state, 13), expected["shuffle_list_13"]);
    EXPECT_EQ(draws(expected["choice_3"], [&] { return 1 + state.choice(thirds); }),
              expected["choice_3"]);
    EXPECT_EQ(draws(expected["geometric_0.2"], [&] { return state.geometric(0.2); }),
              expected["geometric_0.2"]);
    std::vector<std::int64_t> first = shuffled(state, 1000);
    first.resize(10);
    EXPECT_EQ(first, expected["shuffle_1000_int32_first_10"]);
    EXPECT_EQ(state.random(), expected["then_random"]);
  }
}

/// Drawn by numpy 2: binomial(1, p) with 0.5, randint(0, 31, size=2), then with 0.9, 0.2, 1 and 0.
TEST(RandomState, TrialsAreBinomialDraws) {
  RandomState state(1234);
  const auto trials = [&](int count, double probability) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += state.bernoulli(probability) ? '1' : '0';
    }
    return text;
  };
  EXPECT_EQ(trials(20, 0.5), "01011001110111011011");
  EXPECT_EQ(state.randint(0, 31), 7);
  EXPECT_EQ(state.randint(0, 31), 11);
  EXPECT_EQ(trials(20, 0.9), "11101111111111110101");
  EXPECT_EQ(trials(10, 0.2), "0000000000");
  EXPECT_EQ(trials(1, 1.0) + trials(1, 0.0), "10");
  EXPECT_EQ(state.random(), 0.00676406199000279);
}

TEST(RandomState, WideIntervalsTakeTwoDraws) {
  RandomState wide(5);
  RandomState narrow(5);
  const std::uint64_t high = narrow.interval(0xffffffff);
  EXPECT_EQ(wide.interval(~std::uint64_t{0}), high << 32 | narrow.interval(0xffffffff));
  EXPECT_EQ(wide.interval(0), 0u);
}

// numpy.random.default_rng(0): the lengths of the reference's mock corpus.
TEST(Pcg64, ReproducesTheMockLengths) {
  Pcg64 rng(0);
  const auto expected = test::golden_json("dataset/indices.json")["mock"]["first_sequence_lengths"];
  EXPECT_EQ(draws(expected, [&] { return rng.integer(1, 4096); }), expected);
}

}  // namespace numpy_random_test
}  // namespace mpitron::data
