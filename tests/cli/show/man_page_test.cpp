#include "cli/show/man_page.h"

#include <gtest/gtest.h>

#include "support/contains.h"

namespace mpitron::cli {
namespace man_page_test {

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

}  // namespace man_page_test
}  // namespace mpitron::cli
