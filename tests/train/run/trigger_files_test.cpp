#include "train/run/trigger_files.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace mpitron::train {
namespace trigger_files_test {

class TriggerFilesTest : public ::testing::Test {
 protected:
  void touch(const std::string& name) const { std::ofstream(folder_.path() / name).put('\n'); }
  bool is_there(const std::string& name) const {
    return std::filesystem::exists(folder_.path() / name);
  }

  const test::TemporaryFolder folder_;
};

TEST_F(TriggerFilesTest, EachAsksOnce) {
  const TriggerFiles files(folder_.path());
  EXPECT_EQ(files.take(1), Trigger::none);
  touch("SAVE");
  EXPECT_EQ(files.take(2), Trigger::save);
  EXPECT_EQ(files.take(3), Trigger::none);
  touch("STOP");
  touch("SAVE");
  EXPECT_EQ(files.take(4), Trigger::stop);
  EXPECT_FALSE(is_there("SAVE"));
  EXPECT_EQ(files.take(5), Trigger::none);
}

TEST_F(TriggerFilesTest, RequeueIsLookedForAtItsInterval) {
  touch("REQUEUE");
  EXPECT_EQ(TriggerFiles(folder_.path()).take(10), Trigger::none);
  const TriggerFiles files(folder_.path(), 10);
  EXPECT_EQ(files.take(9), Trigger::none);
  EXPECT_TRUE(is_there("REQUEUE"));
  EXPECT_EQ(files.take(10), Trigger::resume_later);
  EXPECT_EQ(files.take(20), Trigger::none);
}

TEST_F(TriggerFilesTest, WithoutAFolderNobodyAsks) {
  EXPECT_EQ(TriggerFiles(std::nullopt, 1).take(1), Trigger::none);
  EXPECT_EQ(TriggerFiles(folder_.path() / "no such folder", 1).take(1), Trigger::none);
}

}  // namespace trigger_files_test
}  // namespace mpitron::train
