#include "inference/sampling/token_constraint.h"

#include <array>

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace token_constraint_test {

TEST(TokenMask, HoldsTheIdsOfItsBits) {
  const std::array<std::uint64_t, 2> words{1ull << 5, 1ull << 1};
  EXPECT_TRUE(in_mask(words, 5));
  EXPECT_TRUE(in_mask(words, 65));
  EXPECT_FALSE(in_mask(words, 64));
  EXPECT_FALSE(in_mask(words, 129));  // behind its end
  EXPECT_TRUE(in_mask({}, 129));      // all ids
}

}  // namespace token_constraint_test
}  // namespace mpitron::inference
