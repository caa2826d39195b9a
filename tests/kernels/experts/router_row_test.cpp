#include "kernels/experts/router_row.h"

#include <vector>

#include <gtest/gtest.h>

namespace mpitron::kernels::router {
namespace router_row_test {

std::vector<Index> order_of(const std::vector<double>& values, Index k) {
  std::vector<Index> order;
  largest(values.data(), static_cast<Index>(values.size()), k,
          [&](Index, Index i) { order.push_back(i); });
  return order;
}

TEST(RouterRow, TheLargestAreChosenOnceEach) {
  EXPECT_EQ(order_of({1, 5, 5, 3, 5}, 5), (std::vector<Index>{1, 2, 4, 3, 0}));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(order_of({-kInfinity, 0, kInfinity, -kInfinity}, 4), (std::vector<Index>{2, 1, 0, 3}));
}

/// Groups {5, 1}, {4, 4}, {0, 9}: by their best, the third and first; by their best two, the third
/// and second.
TEST(RouterRow, GroupsCountWithTheirBestExperts) {
  const std::vector<double> scores{5, 1, 4, 4, 0, 9};
  const auto kept = [&](Index k) {
    std::vector<double> left = scores;
    keep_best_groups(left.data(), 6, k, {.groups = 3, .group_topk = 2});
    std::vector<bool> result;
    for (const double score : left) {
      result.push_back(std::isfinite(score));
    }
    return result;
  };
  EXPECT_EQ(kept(2), (std::vector<bool>{true, true, false, false, true, true}));
  EXPECT_EQ(kept(4), (std::vector<bool>{false, false, true, true, true, true}));
}

TEST(RouterRow, LargeLogitsDoNotOverflow) {
  const std::vector<float> x{1000, 999, -1000};
  std::vector<float> p(3);
  softmax(Logits<float>{x.data(), 3}, p.data());
  EXPECT_NEAR(p[0], 0.7310586F, 1e-6);
  EXPECT_EQ(p[2], 0);
  EXPECT_NEAR(log_sum_exp(Logits<float>{x.data(), 3}), 1000.31326F, 1e-3);
}

}  // namespace router_row_test
}  // namespace mpitron::kernels::router
