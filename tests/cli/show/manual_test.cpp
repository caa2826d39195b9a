#include <filesystem>
#include <regex>

#include <gtest/gtest.h>

#include "cli/command_test.h"
#include "cli/commands.h"
#include "support/program.h"
#include "utils/system/machine.h"

namespace mpitron::cli {

namespace manual_test {

using namespace mpitron::test;

class Manual : public CommandTest {
 protected:
  Manual() {
    const Finished finished = run({"manual", "--prefix", "here"});
    EXPECT_EQ(finished.code, 0) << finished.err;
  }
  std::filesystem::path share(const std::string& path) const {
    return folder_.path() / "here/share" / path;
  }
  /// What bash offers for the last of these words.
  std::string offered(const std::string& words, int last) const {
    const std::string script = share("bash-completion/completions/mpitron");
    return command_output({"bash", "-c",
                           "source " + script + "; COMP_WORDS=(" + words + "); COMP_CWORD=" +
                               std::to_string(last) + "; _mpitron; echo \"${COMPREPLY[@]}\""})
        .text;
  }
};

TEST_F(Manual, EveryCommandHasItsPage) {
  for (const Command& command : commands()) {
    const auto page = share("man/man1/mpitron-" + std::string(command.name) + ".1");
    ASSERT_TRUE(std::filesystem::exists(page)) << page;
  }
  EXPECT_TRUE(contains(read_file(share("man/man1/mpitron.1")),
                       "\n.BR mpitron\\-preprocess (1)\ntokenise JSONL"));
  EXPECT_TRUE(contains(read_file(share("man/man1/mpitron-pretrain-gpt.1")),
                       "\\-\\-tensor\\-model\\-parallel\\-size INT"));
  EXPECT_TRUE(std::filesystem::exists(share("man/man1/mpitron-dataset-inspect.1")));
  for (const char* path :
       {"zsh/site-functions/_mpitron", "fish/vendor_completions.d/mpitron.fish"}) {
    EXPECT_TRUE(contains(read_file(share(path)), "tensor-model-parallel-size")) << path;
  }
}

TEST_F(Manual, BashCompletesCommandsOptionsAndTheirCommands) {
  EXPECT_EQ(offered("mpitron pretrain-g", 1), "pretrain-gpt\n");
  EXPECT_EQ(offered("mpitron pretrain-gpt --tensor-mod", 2), "--tensor-model-parallel-size\n");
  EXPECT_EQ(offered("mpitron dataset ins", 2), "inspect\n");
  EXPECT_TRUE(contains(offered("mpitron dataset inspect --", 3), "--json"));
}

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

}  // namespace manual_test

}  // namespace mpitron::cli
