#include "convert/formats/checkpoint_folder.h"

#include <gtest/gtest.h>

#include "convert/tiny_models.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace checkpoint_folder_test {

namespace fs = std::filesystem;

TEST(CheckpointFolder, FollowsTheTracker) {
  const test::TemporaryFolder folder;
  const fs::path tracker = folder.path() / "latest_checkpointed_iteration.txt";
  EXPECT_EQ(iteration_folder(folder.path()), folder.path());
  EXPECT_FALSE(has_tracker(folder.path()));
  test::write_text(tracker, "123\n");
  EXPECT_EQ(iteration_folder(folder.path()), folder.path() / "iter_0000123");
  test::write_text(tracker, "release");
  EXPECT_EQ(iteration_folder(folder.path()), folder.path() / "release");
  for (const char* wrong : {"", "-1", "../x", "12a", "99999999999999999999999"}) {
    test::write_text(tracker, wrong);
    EXPECT_THROW(iteration_folder(folder.path()), Error) << wrong;
  }
  EXPECT_EQ(iteration_of("x/iter_0000123"), 123);
  EXPECT_EQ(iteration_of("x/release"), -1);
}

}  // namespace checkpoint_folder_test
}  // namespace mpitron::convert
