#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace resolve_checkpoint_test {

CheckpointConfig checkpoint_of(const std::string& flags) {
  return test::parse_base(flags).run.checkpoint;
}

TEST(ResolveCheckpoint, ShortLivedOnesLieBelowTheOthersUnlessAFolderIsNamed) {
  const std::string global = "--save runs/a --non-persistent-ckpt-type global ";
  EXPECT_TRUE(checkpoint_of(global).non_persistent.global);
  EXPECT_EQ(checkpoint_of(global).non_persistent.global_folder, "runs/a/non_persistent");
  EXPECT_EQ(
      checkpoint_of(global + "--non-persistent-global-ckpt-dir fast").non_persistent.global_folder,
      "fast");
  EXPECT_FALSE(checkpoint_of("--save runs/a").non_persistent.global);
}

TEST(ResolveCheckpoint, CopiesOfAMissingStateAreNotLookedFor) {
  EXPECT_FALSE(checkpoint_of("--load runs/a").no_load_optim);
  const CheckpointConfig upcycled =
      checkpoint_of("--load runs/a --num-experts 4 --moe-use-upcycling");
  EXPECT_TRUE(upcycled.no_load_optim);
  EXPECT_EQ(upcycled.upcycling_granularity, 1);
}

}  // namespace resolve_checkpoint_test
}  // namespace mpitron::config
