#include "checkpoint/folders/folder_changes.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/system/files.h"

namespace mpitron::checkpoint {
namespace folder_changes_test {

namespace fs = std::filesystem;

TEST(FolderChanges, ASaveTakesTheNameOfTheOneBefore) {
  const test::TemporaryFolder folder;
  const fs::path from = fs::path(folder.path()) / "iter_0000001.tmp",
                 to = fs::path(folder.path()) / "iter_0000001";
  fs::create_directory(from);
  fs::create_directory(to);
  test::write_bytes(from / "x", "new");
  test::write_bytes(to / "x", "old");
  put_in_place(from, to);
  EXPECT_EQ(read_file(to / "x"), "new");
  EXPECT_FALSE(fs::exists(from));
}

TEST(FolderChanges, OnlyLeftoversAreRemoved) {
  const test::TemporaryFolder folder;
  const fs::path root = folder.path();
  for (const char* name : {"iter_0000001.tmp", "iter_0000002", "notes.tmp"}) {
    fs::create_directories(root / name / "more");
  }
  remove_leftovers(root);
  EXPECT_EQ(folder_entries(root),
            (std::vector<fs::path>{root / "iter_0000002", root / "notes.tmp"}));
  EXPECT_TRUE(folder_entries(root / "none").empty());
}

}  // namespace folder_changes_test
}  // namespace mpitron::checkpoint
