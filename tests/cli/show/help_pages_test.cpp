#include "cli/show/help_pages.h"

#include <gtest/gtest.h>

#include "support/contains.h"

namespace mpitron::cli {

namespace help_pages_test {

TEST(HelpPages, OptionsAndWordsBeginARow) {
  EXPECT_EQ(options_in("Usage\n  -h,--help  help\n  --input TEXT --not-this\ntext --nor-this\n"),
            (std::vector<std::string>{"--help", "--input"}));
  EXPECT_EQ(words_in("usage: mpitron job COMMAND ...\n\n  write      write a script\n"),
            std::vector<std::string>{"write"});
  EXPECT_TRUE(words_in("usage: mpitron check OPTIONS\n\n  write   no command\n").empty());
}

using test::contains;

const HelpPage kPage{.name = "dataset inspect",
                     .summary = "show what a corpus holds",
                     .text = "Shows it.\nUsage: x\n\n.begins with a point\n  --count INT  a\\b\n",
                     .options = {"--count"}};

TEST(ManPage, ItsTextIsNoRequest) {
  const std::string page = man_page(kPage, "1.2");
  EXPECT_TRUE(page.starts_with(".TH \"MPITRON-DATASET-INSPECT\" 1 \"\" \"mpitron 1.2\"")) << page;
  EXPECT_TRUE(contains(page, "\n\\&.begins with a point\n")) << page;
  EXPECT_TRUE(contains(page, "\\-\\-count INT  a\\eb")) << page;
}

}  // namespace help_pages_test

}  // namespace mpitron::cli
