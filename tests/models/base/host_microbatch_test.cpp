#include "models/base/host_microbatch.h"

#include <gtest/gtest.h>

namespace mpitron::models {
namespace host_microbatch_test {

TEST(Columns, ASecondValueReplacesTheFirst) {
  const std::vector<float> ones{1, 1}, zeros{0, 0};
  HostMicrobatch microbatch{.samples = 2, .sequence_length = 1, .columns = {{kLossMask, ones}}};
  EXPECT_TRUE(microbatch[kTokens].empty());
  microbatch.columns.set(kLossMask, zeros);
  EXPECT_EQ(microbatch[kLossMask][1], 0);
}

}  // namespace host_microbatch_test
}  // namespace mpitron::models
