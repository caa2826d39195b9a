#include <gtest/gtest.h>

#include "cli/commands.h"
#include "utils/error.h"

namespace mpitron::cli {

namespace explain_test {

std::string page(const std::string& subject) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(explain({subject}), 0);
  return ::testing::internal::GetCapturedStdout();
}

TEST(Explain, RulesAndOptions) {
  EXPECT_EQ(page("E017").substr(0, 21), "E017 layers_per_stage");
  EXPECT_NE(page("head_size").find("E014"), std::string::npos);
  EXPECT_NE(page("--num-layers").find("transformer layers"), std::string::npos);
}

TEST(Explain, UnknownSubjectsNameTheNearest) {
  for (const auto& [given, near] :
       {std::pair("--num-layer", "--num-layers"), std::pair("E17", "E017"),
        std::pair("head_sizes", "head_size")}) {
    try {
      explain({given});
      ADD_FAILURE() << given;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find(std::string("did you mean ") + near),
                std::string::npos)
          << error.what();
    }
  }
  EXPECT_THROW(explain({}), Error);
}

TEST(Explain, HelpIsNotAMistake) {
  EXPECT_EQ(page("--help"), "usage: mpitron explain E017 | --num-layers\n");
}

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

}  // namespace explain_test

}  // namespace mpitron::cli
