#include "kernels/elementwise/nucleus.h"

#include <algorithm>

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace nucleus_test {

/// Weights from 0 to 1 of one kind: of any size, of few levels, all alike, one far above the rest.
std::vector<double> weights_of(int kind, Index v) {
  std::vector<double> weights = test_values(v, static_cast<unsigned>(kind) + 3);
  for (double& weight : weights) {
    weight = kind == 0   ? std::exp(8 * weight - 8)
             : kind == 1 ? std::exp2(std::floor(6 * weight) - 6)
             : kind == 2 ? 1
                         : std::exp(weight - 30);
  }
  weights[static_cast<std::size_t>(v / 2)] = 1;
  return weights;
}

std::vector<double> sums_of(const std::vector<double>& weights) {
  const auto v = static_cast<Index>(weights.size());
  std::vector<double> sums(static_cast<std::size_t>(token_blocks(v)));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sums[i / kTokenBlock] += weights[i];
  }
  return sums;
}

template <class F>
void for_cases(F&& f) {
  for (int kind = 0; kind < 4; ++kind) {
    for (const Index v : {1, 15, 64, 65, 1000, 5003}) {
      f(weights_of(kind, v));
    }
  }
}

TEST(Nucleus, BorderAsTheReference) {
  for_cases([](const std::vector<double>& values) {
    const std::vector<double> block_sums = sums_of(values);
    const double all = std::accumulate(values.begin(), values.end(), 0.0);
    for (const double share : {0.0, 0.1, 0.5, 0.9, 0.9999, 1.5}) {
      Workbench bench;
      Twin& weights = bench.input(DType::f64, {std::ssize(values)});
      Twin& sums = bench.input(DType::f64, {std::ssize(block_sums)});
      Twin& border = bench.output(DType::f64, {3});
      weights.fill(values);
      sums.fill(block_sums);
      bench.check(
          [&](Side side) {
            return NucleusBorder{.weights = weights(side),
                                 .sums = sums(side),
                                 .border = border(side),
                                 .workspace = {},
                                 .mass = share * all};
          },
          1e-13);
    }
  });
}

TEST(Nucleus, BlocksWithoutASumDoNotCount) {
  std::vector<double> values(200, 0.5), block_sums = sums_of(values);
  values[3] = 1;
  block_sums[0] = 0;
  Workbench bench;
  Twin& weights = bench.inout(DType::f64, {200});
  Twin& sums = bench.inout(DType::f64, {4});
  Twin& border = bench.output(DType::f64, {3});
  weights.fill(values);
  sums.fill(block_sums);
  bench.check(
      [&](Side side) {
        return NucleusBorder{.weights = weights(side),
                             .sums = sums(side),
                             .border = border(side),
                             .workspace = {},
                             .mass = 10};
      },
      0);
  EXPECT_EQ(border.sides[tested_side].values(), (std::vector<double>{0.5, 0, 136}));
  bench.check([&](Side side) { return KeepWeights{weights(side), sums(side), 0.7}; }, 0);
  EXPECT_EQ(weights.sides[tested_side].values()[3], 1);
  EXPECT_EQ(sums.sides[tested_side].values(), std::vector<double>(4));
}

TEST(Nucleus, AlikeWeightsAsTheReference) {
  for_cases([](const std::vector<double>& values) {
    std::vector<double> block_sums = sums_of(values);
    block_sums.back() = values.size() > 64 ? 0 : block_sums.back();
    for (const double weight : {1.0, values.front(), 0.25, 0.3}) {
      Workbench bench;
      Twin& weights = bench.input(DType::f64, {std::ssize(values)});
      Twin& sums = bench.input(DType::f64, {std::ssize(block_sums)});
      Twin& ids = bench.inout(DType::i64, {std::ssize(values)});
      Twin& count = bench.output(DType::i64, {1});
      weights.fill(values);
      sums.fill(block_sums);
      ids.fill(std::vector<double>(values.size(), 7));
      bench.check(
          [&](Side side) {
            return AlikeWeights{weights(side), sums(side), ids(side), count(side), weight};
          },
          0);
      const auto found = static_cast<std::size_t>(count.sides[tested_side].values()[0]);
      const std::vector<double> all = ids.sides[tested_side].values();
      for (std::size_t i = 0; i < found; ++i) {
        EXPECT_EQ(values[static_cast<std::size_t>(all[i])], weight);
        EXPECT_TRUE(i == 0 || all[i - 1] < all[i]);
      }
    }
  });
}

TEST(Nucleus, KeptWeightsAsTheReference) {
  for_cases([](const std::vector<double>& values) {
    for (const double least : {0.0, 0.3, 1.0}) {
      Workbench bench;
      Twin& weights = bench.inout(DType::f64, {std::ssize(values)});
      Twin& sums = bench.inout(DType::f64, {token_blocks(std::ssize(values))});
      weights.fill(values);
      sums.fill(sums_of(values));
      bench.check([&](Side side) { return KeepWeights{weights(side), sums(side), least}; }, 1e-14);
    }
  });
}

}  // namespace nucleus_test
}  // namespace mpitron::kernels
