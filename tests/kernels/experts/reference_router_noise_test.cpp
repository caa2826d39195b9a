#include <algorithm>

#include <gtest/gtest.h>

#include "kernels/experts/router_noise.h"
#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels {
namespace reference_router_noise_test {

device::ReferenceStream stream;

std::vector<double> jittered(Index rows, const TokenNoise& noise) {
  TestTensor x(DType::f64, {rows, 6}, std::vector<double>(static_cast<std::size_t>(rows * 6), 2));
  TestTensor y(DType::f64, {rows, 6});
  run(stream, Jitter{x.view(), y.view(), 0.25F, noise});
  return y.values();
}

TEST(ReferenceRouterNoise, JitterStaysWithinItsBounds) {
  const std::vector<double> y = jittered(100, {.key = {1, 2}});
  const auto [least, most] = std::ranges::minmax(y);
  EXPECT_GE(least, 1.5);
  EXPECT_LT(least, 1.55);
  EXPECT_LT(most, 2.5);
  EXPECT_GT(most, 2.45);
}

TEST(ReferenceRouterNoise, NumbersBelongToTokensAndNotToRows) {
  const std::vector<double> all = jittered(8, {.key = {1, 2}, .batch = 2});
  TokenNoise later{.key = {1, 2}, .batch = 2};
  later.index = later.index.from(2);
  const std::vector<double> second_half = jittered(4, later);
  EXPECT_TRUE(std::equal(second_half.begin(), second_half.end(), all.begin() + 24));
  TokenNoise sample{.key = {1, 2}, .batch = 1};
  sample.index.sample_offset = 1;
  const std::vector<double> one = jittered(4, sample);
  EXPECT_TRUE(std::equal(one.begin(), one.begin() + 6, all.begin() + 6));
  EXPECT_NE(jittered(8, {.key = {1, 3}, .batch = 2}), all);
}

TEST(ReferenceRouterNoise, RandomLogitsPreferNobody) {
  TestTensor logits(DType::f32, {4000, 4});
  run(stream, RandomLogits{logits.view(), {.key = {5, 6}}});
  std::vector<int> best(4);
  const std::vector<double> values = logits.values();
  for (std::size_t row = 0; row < 4000; ++row) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(4 * row);
    ++best[static_cast<std::size_t>(std::max_element(first, first + 4) - first)];
  }
  for (const int count : best) {
    EXPECT_NEAR(count, 1000, 120);  // four standard deviations; the numbers are always the same
  }
}

}  // namespace reference_router_noise_test
}  // namespace mpitron::kernels
