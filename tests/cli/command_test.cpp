#include "cli/command.h"

#include <gtest/gtest.h>

#include "support/program.h"

namespace mpitron::cli {
namespace command_test {

using test::contains;
using test::Finished;
using test::run_program;
using test::TemporaryFolder;

Finished run_words(const std::vector<std::string>& words) {
  const TemporaryFolder folder;
  return run_program(folder.path(), words);
}

TEST(Command, HelpListsEveryCommand) {
  for (const char* word : {"--help", "-h", "help"}) {
    const Finished finished = run_words({word});
    EXPECT_EQ(finished.code, 0);
    for (const Command& command : commands()) {
      EXPECT_TRUE(contains(finished.out, std::string(command.name))) << command.name;
      EXPECT_TRUE(contains(finished.out, std::string(command.summary))) << command.name;
    }
  }
}

TEST(Command, WithoutWordsItPrintsHelpAndFails) {
  const Finished finished = run_words({});
  EXPECT_EQ(finished.code, 2);
  EXPECT_TRUE(contains(finished.out, "usage: mpitron COMMAND")) << finished.out;
}

TEST(Command, AnUnknownCommandIsNamedOnce) {
  const Finished finished = run_words({"pretrain-gtp", "--lr", "1"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_TRUE(contains(finished.err, "'pretrain-gtp'; did you mean pretrain-gpt")) << finished.err;
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
}

TEST(Command, ScriptsOfTheReferenceAreAnsweredWithTheirCommand) {
  for (const auto& [script, command] : {std::pair{"pretrain_gpt.py", "pretrain-gpt"},
                                        {"/opt/megatron/pretrain_bert.py", "pretrain-bert"},
                                        {"tools/preprocess_data.py", "preprocess"}}) {
    const Finished finished = run_words({script, "--lr", "1"});
    EXPECT_EQ(finished.code, 2);
    EXPECT_TRUE(contains(finished.err, std::string("did you mean ") + command)) << finished.err;
  }
}

TEST(Command, TheVersionIsToldByEveryCommand) {
  const std::string version = run_words({"version"}).out;
  EXPECT_EQ(run_words({"-v"}).out, version);
  EXPECT_EQ(run_words({"--version"}).out, version);
  EXPECT_EQ(run_words({"pretrain-gpt", "--version"}).out, version);
  EXPECT_EQ(run_words({"inspect", "-v"}).out, version);
}

TEST(Command, AnOutputThatCannotBeWrittenIsAFailure) {
  const TemporaryFolder folder;
  const Finished finished = run_program(folder.path(), {"--help"}, {.largest_file = 100});
  EXPECT_EQ(finished.code, 4);
  EXPECT_LE(finished.out.size(), 100U);
  EXPECT_TRUE(contains(finished.err, "standard output is not complete")) << finished.err;
}

}  // namespace command_test
}  // namespace mpitron::cli
