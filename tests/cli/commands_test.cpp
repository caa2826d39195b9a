#include "cli/commands.h"

#include <gtest/gtest.h>

#include "support/program.h"

namespace mpitron::cli {
namespace commands_test {

TEST(Commands, NamesAreDistinctAndEveryoneExplainsItself) {
  const test::TemporaryFolder folder;
  std::vector<std::string> seen;
  for (const Command& command : commands()) {
    const std::string name(command.name);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), name), 0) << name;
    seen.push_back(name);
    const test::Finished finished = test::run_program(folder.path(), {name, "--help"});
    EXPECT_EQ(finished.code, 0) << name << ": " << finished.err;
    EXPECT_FALSE(finished.out.empty()) << name;
    EXPECT_EQ(finished.err, "") << name;
  }
}

}  // namespace commands_test
}  // namespace mpitron::cli
