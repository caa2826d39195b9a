#include "cli/did_you_mean.h"

#include <gtest/gtest.h>

namespace mpitron::cli {
namespace {

TEST(DidYouMean, NamesTheNearestWords) {
  const auto names = names_of(commands());
  ASSERT_EQ(names.size(), commands().size());
  EXPECT_EQ(did_you_mean("inspct", names), "; did you mean inspect?");
  EXPECT_EQ(did_you_mean("pretrain", names),
            "; did you mean pretrain-gpt or pretrain-bert or pretrain-t5?");
  EXPECT_EQ(did_you_mean("something-else-altogether", names), "");
}

}  // namespace
}  // namespace mpitron::cli
