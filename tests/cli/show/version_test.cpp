#include <regex>

#include <gtest/gtest.h>

#include "support/program.h"

namespace mpitron::cli {
namespace version_test {

TEST(Version, TellsWhatWasBuiltInOneLine) {
  const test::TemporaryFolder folder;
  const test::Finished finished = test::run_program(folder.path(), {"--version"});
  EXPECT_EQ(finished.code, 0);
  const std::regex line(
      R"(mpitron \d+\.\d+\.\d+\S* \(commit [^,]+, \w+, [^,]+, -march=\S+, .+\)\n)");
  EXPECT_TRUE(std::regex_match(finished.out, line)) << finished.out;
  EXPECT_EQ(test::run_program(folder.path(), {"version"}).out, finished.out);
  EXPECT_EQ(test::run_program(folder.path(), {"version", "x"}).code, 2);
}

}  // namespace version_test
}  // namespace mpitron::cli
