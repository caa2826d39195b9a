#include "config/values/option_help.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::config {
namespace option_help_test {

TEST(OptionHelp, ShowsEveryOptionUnderItsGroup) {
  const std::string text = help_text();
  std::size_t at = 0;
  for (const OptionTable& table : option_tables()) {
    for (const Option& option : table.rows) {
      at = text.find("  --" + std::string(option.name), at);
      ASSERT_NE(at, std::string::npos) << option.name;
    }
  }
  EXPECT_NE(text.find("mixed precision (--help-mixed-precision):"), std::string::npos);
}

TEST(OptionHelp, ShowsOneGroupCompletely) {
  const std::string text = help_text("training");
  EXPECT_NE(text.find("--micro-batch-size"), std::string::npos);
  EXPECT_NE(text.find("--high-priority-stream-groups"), std::string::npos);
  EXPECT_EQ(text.find("--seed"), std::string::npos);
}

TEST(OptionHelp, AnUnknownGroupNamesTheNearestOrAll) {
  const auto message = [](const char* group) -> std::string {
    try {
      return help_text(group);
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(message("trainin"), "there is no option group 'trainin'; did you mean training?");
  EXPECT_NE(message("no-such-group").find("; groups: "), std::string::npos);
}

TEST(OptionHelp, IsAskedForByTheUsualFlags) {
  EXPECT_TRUE(requested_help({"--num-layers", "2", "--help"}));
  EXPECT_TRUE(requested_help({"-h"}));
  EXPECT_EQ(requested_help({"--help-moe"}), help_text("moe"));
  EXPECT_FALSE(requested_help({"--num-layers", "2"}));
}

TEST(OptionHelp, ExplainsOneOption) {
  const auto page = explain_option("--disable-bias-linear");
  ASSERT_TRUE(page);
  EXPECT_NE(page->find("add_bias_linear"), std::string::npos);
  EXPECT_NE(page->find("works"), std::string::npos);
  EXPECT_TRUE(explain_option("save-interval"));
  EXPECT_FALSE(explain_option("--no-such-option"));
}

}  // namespace option_help_test

}  // namespace mpitron::config
