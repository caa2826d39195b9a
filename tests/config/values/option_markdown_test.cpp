#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "config/values/option_help.h"

namespace mpitron::config {
namespace option_markdown_test {

TEST(OptionMarkdown, TheDocumentedOptionsAreUpToDate) {
  std::ifstream in(std::string(MPITRON_SOURCE_DIR) + "/docs/options.md");
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), options_markdown() + "\n")
      << "run: mpitron options --markdown > docs/options.md";
}

}  // namespace option_markdown_test

}  // namespace mpitron::config
