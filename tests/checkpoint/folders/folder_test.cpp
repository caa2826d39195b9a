#include "checkpoint/folders/folder.h"

#include "checkpoint/folders/saved_folder.h"
#include "support/contains.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::checkpoint {
namespace folder_test {

namespace fs = std::filesystem;
using test::contains;
using Iterations = std::vector<Index>;

using FolderTest = test::SavedFolder;

TEST_F(FolderTest, NamesAreMegatrons) {
  EXPECT_EQ(folder_.file(123), root_ / "iter_0000123" / "checkpoint.h5");
  EXPECT_EQ(folder_.file(12345678), root_ / "iter_12345678" / "checkpoint.h5");
  EXPECT_EQ(folder_.file(-1), root_ / "release" / "checkpoint.h5");
}

TEST_F(FolderTest, CommitMakesItVisible) {
  EXPECT_EQ(folder_.iterations(), Iterations{});
  EXPECT_EQ(folder_.tracked(), std::nullopt);
  folder_.begin(5);
  test::write_sample(folder_.unfinished_file(5), 5);
  EXPECT_EQ(folder_.iterations(), Iterations{});
  folder_.commit(5);
  EXPECT_EQ(folder_.iterations(), Iterations{5});
  EXPECT_EQ(folder_.tracked(), 5);
  EXPECT_EQ(read_file(root_ / "latest_checkpointed_iteration.txt"), "5");
  EXPECT_EQ(File(folder_.file(5)).header().iteration, 5);
  EXPECT_FALSE(fs::exists(folder_.unfinished_file(5).parent_path()));
}

TEST_F(FolderTest, AnIterationCanBeSavedAgain) {
  save(5);
  fs::create_directories(root_ / "iter_0000005" / "more");
  save(5);
  EXPECT_EQ(reason_against(folder_.file(5)), "");
  EXPECT_FALSE(fs::exists(root_ / "iter_0000005" / "more"));
  EXPECT_FALSE(fs::exists(root_ / "iter_0000005.tmp"));
}

TEST_F(FolderTest, TheNextSaveRemovesWhatACrashLeft) {
  save(5);
  for (const char* name : {"iter_0000007.tmp", "iter_0000003.deleted.tmp"}) {
    fs::create_directories(root_ / name / "more");
  }
  write(root_ / "notes.tmp", "mine");
  folder_.begin(9);
  EXPECT_FALSE(fs::exists(root_ / "iter_0000007.tmp"));
  EXPECT_FALSE(fs::exists(root_ / "iter_0000003.deleted.tmp"));
  EXPECT_TRUE(fs::exists(root_ / "iter_0000009.tmp"));
  EXPECT_TRUE(fs::exists(root_ / "notes.tmp"));
  EXPECT_EQ(folder_.iterations(), Iterations{5});
}

TEST_F(FolderTest, OnlyCheckpointsCount) {
  save(5);
  save(20);
  for (const char* name : {"iter_5", "iter_x", "iter_0000007.tmp", "iter_-000008", "logs"}) {
    fs::create_directories(root_ / name);
  }
  write(root_ / "iter_0000099", "a file");
  EXPECT_EQ(folder_.iterations(), (Iterations{5, 20}));
}

TEST_F(FolderTest, ReleaseHasNoIteration) {
  save(-1);
  EXPECT_EQ(read_file(root_ / "latest_checkpointed_iteration.txt"), "release");
  EXPECT_EQ(folder_.tracked(), -1);
  EXPECT_EQ(reason_against(folder_.file(-1)), "");
  save(1);
  EXPECT_EQ(folder_.iterations(), (Iterations{-1, 1}));
  EXPECT_EQ(apply_retention(folder_, {.keep_last = 1}, 1), Iterations{});
}

TEST_F(FolderTest, ATrackerOfOtherTextIsAnError) {
  save(5);
  write(root_ / "latest_checkpointed_iteration.txt", " 5\n");
  EXPECT_EQ(folder_.tracked(), 5);
  for (const char* text : {"", "five", "-5", "5 6", "99999999999999999999"}) {
    write(root_ / "latest_checkpointed_iteration.txt", text);
    EXPECT_THROW(folder_.tracked(), Error) << text;
  }
}

TEST_F(FolderTest, AFolderThatCannotBeWrittenIsNamed) {
  write(temporary_.path() / "file", "");
  const Folder folder(temporary_.path() / "file");
  try {
    folder.begin(1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    EXPECT_PRED2(contains, error.what(), folder.root().string());
  }
}

}  // namespace folder_test
}  // namespace mpitron::checkpoint
