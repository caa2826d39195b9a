#include <gtest/gtest.h>

#include "cli/commands.h"
#include "utils/error.h"

namespace mpitron::cli {
namespace options_test {

std::string printed(const Arguments& arguments) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(options(arguments), 0);
  return ::testing::internal::GetCapturedStdout();
}

TEST(Options, PrintsHelpOrMarkdown) {
  EXPECT_NE(printed({}).find("network size (--help-network-size):"), std::string::npos);
  EXPECT_EQ(printed({"--markdown"}).substr(0, 10), "# Options\n");
  EXPECT_EQ(printed({"--help"}), "usage: mpitron options [--markdown]\n");
  EXPECT_THROW(options({"--pdf"}), Error);
}

}  // namespace options_test
}  // namespace mpitron::cli
