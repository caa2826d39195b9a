#include <gtest/gtest.h>

#include "cli/show/help_pages.h"
#include "support/program.h"

namespace mpitron::cli {
namespace completions_test {

using test::contains;

const std::vector<HelpPage> kPages{
    {.name = "plan", .summary = "time of a step", .text = "", .options = {"--machine"}},
    {.name = "dataset", .summary = "it's data", .text = "", .words = {"inspect"}},
    {.name = "dataset inspect", .summary = "what is in it", .text = "", .options = {"--json"}}};

TEST(Completions, NameCommandsOptionsAndTheirCommands) {
  for (const std::string& script :
       {bash_completion(kPages), zsh_completion(kPages), fish_completion(kPages)}) {
    for (const char* word : {"plan", "machine", "inspect", "json"}) {
      EXPECT_TRUE(contains(script, word)) << word << " in " << script;
    }
  }
}

TEST(Completions, QuoteSummaries) {
  EXPECT_FALSE(contains(fish_completion(kPages), "'it's data'"));
}

}  // namespace completions_test
}  // namespace mpitron::cli
