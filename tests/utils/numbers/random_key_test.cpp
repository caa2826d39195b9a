#include "utils/numbers/random_key.h"

#include <bit>

#include <gtest/gtest.h>

namespace mpitron {
namespace random_key_test {

TEST(RandomKey, AChangedBitChangesHalfOfAll) {
  int changed = 0;
  for (int bit = 0; bit < 64; ++bit) {
    changed += std::popcount(mix_bits(7) ^ mix_bits(7 ^ (std::uint64_t{1} << bit)));
  }
  EXPECT_NEAR(changed / 64.0, 32, 4);
}

TEST(RandomKey, StepsAndPlacesHaveTheirOwn) {
  EXPECT_NE(step_key(1, 2), step_key(2, 1));
  const Philox::Key a = place_key(step_key(1, 2), 3), b = place_key(step_key(1, 2), 4);
  EXPECT_NE(a[0], b[0]);
  EXPECT_NE(a[1], b[1]);
}

}  // namespace random_key_test
}  // namespace mpitron
