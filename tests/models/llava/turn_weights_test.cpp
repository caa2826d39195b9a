#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "models/llava/source_rows.h"

namespace mpitron::models {
namespace turn_weights_test {

// Two rows side by side: a turn of four words and one of a single word in the first, none in the
// second.
TEST(TurnWeights, GoWithTheRootOfTheLength) {
  std::vector<float> mask = {1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0};
  weigh_turns(mask, 2);
  EXPECT_FLOAT_EQ(mask[0] * 4, 2 * mask[10]);
  EXPECT_FLOAT_EQ(mask[0], mask[6]);
  EXPECT_EQ(mask[8], 0);
  EXPECT_FLOAT_EQ(std::accumulate(mask.begin(), mask.end(), 0.0F), 5);
}

}  // namespace turn_weights_test
}  // namespace mpitron::models
