#include "config/sources/command_line.h"

#include <gtest/gtest.h>

namespace mpitron::config {
namespace command_line_test {

std::string name_of(const GivenOption& given) {
  return std::string(option_index().option(given.slot).name);
}

TEST(CommandLine, CutsNamesAndWords) {
  const Reading out =
      read_command_line({"--num-layers", "2", "--swiglu", "--lr=1e-4", "--data-path", "0.5", "a",
                         "0.5", "b", "--split=8,1,1", "--rampup-batch-size", "2", "2", "24"});
  ASSERT_TRUE(out.findings.empty());
  ASSERT_EQ(out.given.size(), 6U);
  EXPECT_EQ(out.given[0].words, std::vector<std::string>{"2"});
  EXPECT_TRUE(out.given[1].words.empty());
  EXPECT_EQ(out.given[2].words, std::vector<std::string>{"1e-4"});
  EXPECT_EQ(out.given[3].words.size(), 4U);
  EXPECT_EQ(out.given[4].words, std::vector<std::string>{"8,1,1"});
  EXPECT_EQ(out.given[5].words.size(), 3U);
}

TEST(CommandLine, NegativeNumbersAreValues) {
  const Reading out =
      read_command_line({"--inference-batch-times-seqlen-threshold", "-1", "--lr", "-1e-5"});
  ASSERT_EQ(out.given.size(), 2U);
  EXPECT_EQ(out.given[0].words, std::vector<std::string>{"-1"});
  EXPECT_EQ(out.given[1].words, std::vector<std::string>{"-1e-5"});
}

TEST(CommandLine, AttachedValuesMayBeAnything) {
  const Reading out = read_command_line({"--tensorboard-dir=--x=y", "--save="});
  ASSERT_EQ(out.given.size(), 2U);
  EXPECT_EQ(out.given[0].words, std::vector<std::string>{"--x=y"});
  EXPECT_EQ(out.given[1].words, std::vector<std::string>{""});
}

TEST(CommandLine, UnderscoresAreReadAsDashesWithOneNotice) {
  const Reading out = read_command_line({"--num_layers", "2", "--hidden_size", "64"});
  ASSERT_EQ(out.given.size(), 2U);
  EXPECT_EQ(name_of(out.given[1]), "hidden-size");
  EXPECT_EQ(out.notices.size(), 1U);
  EXPECT_TRUE(read_command_line({"--override-opt_param-scheduler"}).notices.empty());
  EXPECT_TRUE(read_command_line({"--persistent-save-interval", "5"}).notices.empty());
}

TEST(CommandLine, CollectsEveryMistake) {
  const Reading out = read_command_line(
      {"stray", "--num-layer", "2", "--swiglu", "true", "-x", "--nothing-like-it"});
  ASSERT_EQ(out.findings.size(), 5U);
  EXPECT_EQ(out.findings[0].id, "E003");
  EXPECT_EQ(out.findings[1].id, "E001");
  EXPECT_NE(out.findings[2].message.find("'true' behind '--swiglu'"), std::string::npos)
      << out.findings[2].message;
  EXPECT_EQ(out.findings[4].nearest, "");
}

/// A word that begins with a dash is a value only behind an equals sign, as in the reference.
TEST(CommandLine, AValueWithADashIsProposedWithAnEqualsSign) {
  const Reading out = read_command_line({"--window-size", "-1,0", "--swiglu", "-bf16"});
  ASSERT_EQ(out.findings.size(), 2U);
  EXPECT_EQ(out.findings[0].nearest, "--window-size=-1,0");
  EXPECT_EQ(out.findings[1].nearest, "--bf16");
  EXPECT_TRUE(read_command_line({"--window-size=-1,0"}).findings.empty());
}

TEST(CommandLine, AbbreviationsAreUnknown) {
  const Reading out = read_command_line({"--tensor-model", "2"});
  ASSERT_EQ(out.findings.size(), 1U);
  EXPECT_EQ(out.findings[0].nearest, "--tensor-model-parallel-size");
}

TEST(CommandLine, AValueMayBeMissing) {
  const Reading out = read_command_line({"--num-layers", "--hidden-size", "64"});
  ASSERT_EQ(out.given.size(), 2U);
  EXPECT_TRUE(out.given[0].words.empty());
}

}  // namespace command_line_test
}  // namespace mpitron::config
