#include "data/index/seed_sequence.h"

#include <set>

#include <gtest/gtest.h>

namespace mpitron::data {
namespace seed_sequence_test {

/// numpy.random.SeedSequence(0).generate_state(2, numpy.uint64), which numpy's own tests pin.
TEST(SeedSequence, IsNumpys) {
  SeedSequence zero(0);
  EXPECT_EQ(zero.next64(0), 15793235383387715774ULL);
  EXPECT_EQ(zero.next64(2), 12390638538380655177ULL);
}

TEST(SeedSequence, SeedsHaveSequencesOfTheirOwn) {
  std::set<std::uint64_t> first;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    first.insert(SeedSequence(seed).next64(0));
  }
  EXPECT_EQ(first.size(), 100u);
}

}  // namespace seed_sequence_test
}  // namespace mpitron::data
