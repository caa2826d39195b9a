#include "cli/checkpoint_path.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::cli {
namespace checkpoint_path_test {

namespace fs = std::filesystem;

TEST(CheckpointPath, AFileAFolderOrTheNewestOfMany) {
  const test::TemporaryFolder folder;
  EXPECT_THROW(checkpoint_file(folder.path()), Error);
  EXPECT_THROW(checkpoint_file(folder.path() / "nowhere"), Error);
  for (const char* name : {"iter_0000009", "iter_0000100"}) {
    fs::create_directory(folder.path() / name);
    std::ofstream(folder.path() / name / "checkpoint.h5") << "x";
  }
  const fs::path newest = folder.path() / "iter_0000100" / "checkpoint.h5";
  EXPECT_EQ(checkpoint_file(folder.path()), newest);
  EXPECT_EQ(checkpoint_file(newest), newest);
  EXPECT_EQ(checkpoint_file(folder.path() / "iter_0000009"),
            folder.path() / "iter_0000009" / "checkpoint.h5");
}

TEST(CheckpointPath, PathsComeFirst) {
  Arguments words = {"a", "b", "--json", "c"};
  EXPECT_EQ(take_paths(words), (Arguments{"a", "b"}));
  EXPECT_EQ(words, (Arguments{"--json", "c"}));
}

TEST(CheckpointPath, BytesForReaders) {
  EXPECT_EQ(readable_bytes(0), "0 B");
  EXPECT_EQ(readable_bytes(999), "999 B");
  EXPECT_EQ(readable_bytes(1000), "1 kB");
  EXPECT_EQ(readable_bytes(1490000000), "1.49 GB");
  EXPECT_EQ(readable_bytes(999999), "1 MB");
  EXPECT_EQ(readable_bytes(Index{1} << 62), "4.61e+03 PB");
}

}  // namespace checkpoint_path_test
}  // namespace mpitron::cli
