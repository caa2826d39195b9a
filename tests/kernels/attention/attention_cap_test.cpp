#include "kernels/host/attention/attention_cap.h"

#include <cmath>

#include <gtest/gtest.h>

namespace mpitron::kernels::host::attention {
namespace attention_cap_test {

TEST(AttentionCap, IsNothingWhereThereIsNone) {
  Problem<float> problem;
  const SoftCap none(problem);
  EXPECT_FALSE(none.active());
  Block<1> block;
  for_block<1>([&](int m, int n) { block[m][n] = broadcast(3.f); });
  none.bound<1>(block);
  EXPECT_EQ(reduce_add(block[5][0]), 48.f);
}

/// In units of raw scores: with a scale of 0.5 a raw score of 4 is one of 2.
TEST(AttentionCap, BoundsRawScoresAndKnowsItsSlope) {
  Problem<float> problem;
  problem.scale = 0.5f;
  problem.softcap = 2;
  const SoftCap cap(problem);
  Block<2> block;
  for_block<2>([&](int m, int n) { block[m][n] = broadcast(4.f); });
  cap.bound<2>(block);
  EXPECT_NEAR(reduce_add(block[3][1]) / 16, 4 * std::tanh(1.0), 1e-5);
  cap.differentiate<2>(block);
  EXPECT_NEAR(reduce_add(block[0][0]) / 16, 1 - std::tanh(1.0) * std::tanh(1.0), 1e-6);
}

}  // namespace attention_cap_test
}  // namespace mpitron::kernels::host::attention
