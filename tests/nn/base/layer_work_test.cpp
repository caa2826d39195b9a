#include "nn/base/layer_work.h"

#include <gtest/gtest.h>

namespace mpitron::nn {
namespace layer_work_test {

TEST(LayerWork, HalvesOfALayerAddUp) {
  LayerWork work{.products = {{.inner = 4, .outer = 12}}, .scores = ScoreWork{.heads = 2}};
  work += LayerWork{
      .products = {{.inner = 4, .outer = 16}}, .passed = 3, .visits = true, .launches = 2};
  ASSERT_EQ(work.products.size(), 2U);
  EXPECT_EQ(work.products[0].weights() + work.products[1].weights(), 4 * (12 + 16));
  ASSERT_TRUE(work.scores.has_value());
  EXPECT_EQ(work.scores->heads, 2);
  EXPECT_EQ(work.passed, 3);
  EXPECT_TRUE(work.visits);
  EXPECT_EQ(work.launches, 2);
}

TEST(LayerCosts, AddUp) {
  LayerCosts costs{.multiply_adds = 1, .weights = 2, .kept_bytes = 3, .state = 4};
  costs += {.multiply_adds = 10, .weights = 20, .kept_bytes = 30, .state = 40};
  EXPECT_EQ(costs.multiply_adds, 11);
  EXPECT_EQ(costs.weights, 22);
  EXPECT_EQ(costs.kept_bytes, 33);
  EXPECT_EQ(costs.state, 44);
}

TEST(ResidualWork, KeepsWhatTheFormulaOfBytesCounts) {
  config::ModelConfig model;
  model.hidden_size = 8;
  double kept = 0;  // numbers of 16 bits; the mask of the dropout is of one byte each
  for (const KeptNumbers& numbers : residual_work(model).kept) {
    kept += numbers.count;
  }
  EXPECT_EQ(2 * kept + 8, residual_bytes(model));
}

TEST(NormWork, ReadsWritesAndKeepsARow) {
  config::ModelConfig model;
  model.hidden_size = 8;
  const LayerWork work = norm_work(model);
  EXPECT_EQ(work.moved.at(0).count, 16);
  EXPECT_EQ(work.kept.at(0).count, 8);
}

}  // namespace layer_work_test
}  // namespace mpitron::nn
