#include "cli/show/help_pages.h"

#include <gtest/gtest.h>

namespace mpitron::cli {
namespace help_pages_test {

TEST(HelpPages, OptionsAndWordsBeginARow) {
  EXPECT_EQ(options_in("Usage\n  -h,--help  help\n  --input TEXT --not-this\ntext --nor-this\n"),
            (std::vector<std::string>{"--help", "--input"}));
  EXPECT_EQ(words_in("usage: mpitron job COMMAND ...\n\n  write      write a script\n"),
            std::vector<std::string>{"write"});
  EXPECT_TRUE(words_in("usage: mpitron check OPTIONS\n\n  write   no command\n").empty());
}

}  // namespace help_pages_test
}  // namespace mpitron::cli
