#include "config/sources/data_files.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace data_files_test {

class DataFiles : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  ParsedRun run(const std::string& option, const std::string& text) {
    std::ofstream(path_) << text;
    return test::parse_base(option + " " + path_);
  }
  std::string path_ = ::testing::TempDir() + "mpitron_paths_" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(DataFiles, WordsOfAFileBecomeDataPath) {
  const ParsedRun parsed = run("--data-args-path", "0.3 a\n0.7 b\n");
  ASSERT_TRUE(parsed.findings.empty()) << test::all_findings(parsed);
  EXPECT_EQ(parsed.run.data.data_path, (std::vector<std::string>{"0.3", "a", "0.7", "b"}));
  EXPECT_EQ(parsed.run.data.split, "969, 30, 1");
}

TEST_F(DataFiles, ListsOfAJsonFileBecomeTheSplits) {
  const ParsedRun parsed = run("--per-split-data-args-path",
                               R"({"train": [0.5, "a", 0.5, "b"], "valid": ["c"], "test": null})");
  ASSERT_TRUE(parsed.findings.empty()) << test::all_findings(parsed);
  EXPECT_EQ(parsed.run.data.train_data_path, (std::vector<std::string>{"0.5", "a", "0.5", "b"}));
  EXPECT_EQ(parsed.run.data.valid_data_path, std::vector<std::string>{"c"});
  EXPECT_TRUE(parsed.run.data.test_data_path.empty());
  EXPECT_EQ(parsed.run.data.split, "");
}

TEST_F(DataFiles, MissingEmptyAndBrokenFilesAreFindings) {
  EXPECT_TRUE(test::has_finding(test::parse_base("--data-args-path /no/such/file"), "E007"));
  EXPECT_TRUE(test::has_finding(run("--data-args-path", " \n"), "E007"));
  EXPECT_TRUE(test::has_finding(run("--per-split-data-args-path", "[1"), "E007"));
  EXPECT_TRUE(test::has_finding(run("--per-split-data-args-path", "[1]"), "E007"));
  const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_TRUE(test::has_finding(run("--per-split-data-args-path", "{\"train\": [" + nested + "]}"),
                                "E007"));
}

}  // namespace data_files_test
}  // namespace mpitron::config
