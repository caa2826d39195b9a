#include <fstream>

#include <gtest/gtest.h>

#include "data/preprocess/preprocess_output.h"
#include "support/corpus.h"

namespace mpitron::data {
namespace output_lock_test {

TEST(OutputLock, SecondHolderIsRefused) {
  const test::TemporaryFolder folder;
  {
    const OutputLock first(folder / "x");
    EXPECT_NE(test::message_of([&] { OutputLock(folder / "x"); }).find("another run is writing"),
              std::string::npos);
    EXPECT_EQ(test::message_of([&] { OutputLock(folder / "y"); }), "");
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "x.lock"));
  EXPECT_EQ(test::message_of([&] { OutputLock(folder / "x"); }), "");
}

TEST(OutputLock, AFileLeftBehindIsNoObstacle) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "x.lock") << "";
  EXPECT_EQ(test::message_of([&] { OutputLock(folder / "x"); }), "");
}

TEST(OutputLock, NamesAMissingFolder) {
  const test::TemporaryFolder folder;
  const std::filesystem::path absent = std::filesystem::path(folder.path()) / "absent/x";
  EXPECT_NE(test::message_of([&] { OutputLock(absent.string()); }).find(absent.string() + ".lock"),
            std::string::npos);
}

}  // namespace output_lock_test
}  // namespace mpitron::data
