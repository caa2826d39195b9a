#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron {
namespace folders_test {

TEST(MakeFolder, MakesThoseAboveAndTakesOneThatIsThere) {
  const test::TemporaryFolder folder;
  make_folder("--x", folder / "a/b");
  make_folder("--x", folder / "a/b");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b"));
}

TEST(MakeFolder, NamesTheOptionWhereAFileIsInTheWay) {
  const test::TemporaryFolder folder;
  AtomicFile file(folder / "a");
  file.commit();
  try {
    make_folder("--x", folder / "a/b");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    EXPECT_TRUE(std::string(error.what()).starts_with("--x " + (folder / "a/b")));
  }
}

}  // namespace folders_test
}  // namespace mpitron
