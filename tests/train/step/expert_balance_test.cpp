#include "train/step/expert_balance.h"

#include <gtest/gtest.h>

namespace mpitron::train {
namespace expert_balance_test {

LayerReport report_of(const std::vector<double>& tokens) {
  LayerReport report;
  report.losses.push_back({.name = "z_loss", .layers = {0, 1.5}, .layers_with_one = 1});
  report.expert_tokens[2] = tokens;
  return report;
}

TEST(ExpertBalanceTest, PercentilesAreThoseOfTheNearestRank) {
  std::vector<double> tokens;
  for (int i = 100; i > 0; --i) {
    tokens.push_back(i);
  }
  const ExpertBalance balance = expert_balance(tokens);
  EXPECT_EQ(balance.least, 1);
  EXPECT_EQ(balance.p95, 95);
  EXPECT_EQ(balance.most, 100);
  EXPECT_EQ(expert_balance(std::vector<double>{7}).p95, 7);
  EXPECT_EQ(expert_balance(std::vector<double>{3, 9}).p95, 9);
}

TEST(ExpertBalanceTest, LinesAndMetricsNameTheLayer) {
  const LayerReport report = report_of({3, 40, 5});
  EXPECT_EQ(balance_lines(report), " tokens of the experts of layer 2: min 3, p95 40, max 40");
  const std::vector<NamedLoss> expected{{"moe/z_loss_layer_0", 0},
                                        {"moe/z_loss_layer_1", 1.5},
                                        {"moe/tokens_per_expert_min_layer_1", 3},
                                        {"moe/tokens_per_expert_p95_layer_1", 40},
                                        {"moe/tokens_per_expert_max_layer_1", 40}};
  EXPECT_EQ(layer_metrics(report), expected);
}

TEST(CollapsedRoutersTest, WarnsOnceOfALayer) {
  CollapsedRouters collapsed(2);
  EXPECT_TRUE(collapsed(1, report_of({3, 1, 2, 0})).empty());
  const std::vector<std::string> warnings = collapsed(2, report_of({0, 6, 6, 0}));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("iteration 2: the router of layer 2"), std::string::npos);
  EXPECT_NE(warnings[0].find("2 of 4 experts"), std::string::npos);
  EXPECT_TRUE(collapsed(3, report_of({0, 12, 0, 0})).empty());
}

TEST(CollapsedRoutersTest, AsManyExpertsAsATokenVisitsCannotCollapse) {
  CollapsedRouters collapsed(2);
  EXPECT_TRUE(collapsed(1, report_of({6, 6})).empty());
  EXPECT_TRUE(collapsed(1, report_of({0, 0, 0})).empty());  // no token at all
}

}  // namespace expert_balance_test
}  // namespace mpitron::train
