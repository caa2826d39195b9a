#include "config/rules/communicator_file.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace mpitron::config {
namespace communicator_file_test {

class CommunicatorFileTest : public ::testing::Test {
 protected:
  CommunicatorFile read(const std::string& text) {
    const std::string path = (folder_.path() / "nccl.yaml").string();
    std::ofstream(path) << text;
    return read_communicator_file(path);
  }
  void expect_problem(const std::string& text, const std::string& problem) {
    const std::string found = read(text).problem;
    EXPECT_NE(found.find("nccl.yaml"), std::string::npos) << found;
    EXPECT_NE(found.find(problem), std::string::npos) << found;
  }

 private:
  mpitron::test::TemporaryFolder folder_;
};

TEST_F(CommunicatorFileTest, LimitsOfGroups) {
  const CommunicatorFile file = read(
      "dp_cp:\n  min_ctas: 2\n  max_ctas: 16\n  cga_cluster_size: 4\n"
      "pp: {max_ctas: 2, net_name: IB}\n");
  EXPECT_EQ(file.problem, "");
  ASSERT_EQ(file.groups.size(), 2U);
  EXPECT_EQ(file.groups.at("dp_cp").min_ctas, 2);
  EXPECT_EQ(file.groups.at("dp_cp").max_ctas, 16);
  EXPECT_EQ(file.groups.at("dp_cp").cga_cluster_size, 4);
  EXPECT_EQ(file.groups.at("pp").min_ctas, std::nullopt);
  EXPECT_EQ(file.groups.at("pp").net_name, "IB");
  EXPECT_TRUE(read("").groups.empty());
}

TEST_F(CommunicatorFileTest, EveryMistakeHasItsLine) {
  expect_problem("dp:\n  max_ctas: 2\nzp:\n  max_ctas: 2\n", "line 3: zp is none of the groups dp");
  expect_problem("dp:\n  max_cta: 2\n", "line 2: max_cta is none of min_ctas");
  expect_problem("dp:\n  max_ctas: many\n", "line 2: max_ctas wants a whole number");
  expect_problem("dp:\n  max_ctas: -1\n", "line 2: max_ctas wants a whole number");
  expect_problem("dp:\n  min_ctas: 8\n  max_ctas: 4\n", "min_ctas 8 is more than max_ctas 4");
  expect_problem("dp:\n  net_name: wifi\n", "wifi is neither IB nor socket");
  expect_problem("dp: 3\n", "line 1: dp wants fields below it");
  expect_problem("dp: [\n", ":");
  EXPECT_NE(read_communicator_file("/no/such/file").problem.find("/no/such/file"),
            std::string::npos);
}

TEST(CommunicatorGroups, WordsStandForGroupsOfTheProgram) {
  EXPECT_TRUE(is_communicator_group("tp"));
  EXPECT_FALSE(is_communicator_group("tensor"));
  EXPECT_EQ(communicator_group_words().substr(0, 8), "dp dp_cp");
}

}  // namespace communicator_file_test
}  // namespace mpitron::config
