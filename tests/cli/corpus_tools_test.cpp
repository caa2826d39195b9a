#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/tiny_run.h"

// clean, dedup, merge-datasets and dataset inspect as a user types them.

namespace mpitron::cli {
namespace corpus_tools_test {

using namespace mpitron::test;

class CorpusTools : public ::testing::Test {
 protected:
  Finished run(const Words& words) const { return run_program(folder_.path(), words); }
  nlohmann::json report(const Words& words) const {
    const Finished finished = run(words + Words{"--json"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.code == 0 ? nlohmann::json::parse(finished.out) : nlohmann::json();
  }
  const TemporaryFolder folder_;
};

TEST_F(CorpusTools, MergeAndInspect) {
  std::filesystem::create_directory(folder_ / "parts");
  write_ids(folder_ / "a.jsonl", 3, 5);
  write_ids(folder_ / "b.jsonl", 2, 40);
  ASSERT_EQ(preprocess_ids(folder_, "a.jsonl", "parts/a").code, 0);
  ASSERT_EQ(preprocess_ids(folder_, "b.jsonl", "parts/b").code, 0);
  const auto merged = report({"merge-datasets", "--input", "parts", "--output-prefix", "all"});
  EXPECT_EQ(merged.at("documents"), 5);
  EXPECT_EQ(merged.at("tokens"), 3 * 6 + 2 * 41);
  const auto inspected = report({"dataset", "inspect", "all.bin"});
  EXPECT_EQ(inspected.at("tokens"), 100);
  EXPECT_EQ(inspected.at("longest"), 41);
  const Finished text = run({"dataset", "inspect", "all"});
  EXPECT_TRUE(contains(text.out, "█")) << text.out;
  const Finished document = run({"dataset", "inspect", "all", "--document", "0"});
  EXPECT_EQ(document.out, "0 3 6 9 12 63\n");
  EXPECT_EQ(run({"dataset", "inspect", "all", "--document", "5"}).code, 2);
  EXPECT_EQ(run({"dataset", "inspect", "none"}).code, 4);
  EXPECT_EQ(run({"dataset", "show"}).code, 2);
}

TEST_F(CorpusTools, CleanAndDedup) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "The house of the man was in the town, and it was not for sale. ";
  }
  const std::string line = "{\"text\": \"" + text + "\"}\n";
  write_bytes(folder_ / "in.jsonl", line + line + "{\"text\": \"too short\"}\n");
  const auto cleaned =
      report({"clean", "--input", "in.jsonl", "--output", "clean.jsonl", "--add-id", "x"});
  EXPECT_EQ(cleaned.at("kept"), 2);
  EXPECT_EQ(cleaned.at("written"), 2);
  EXPECT_EQ(cleaned.at("language"), 1);
  const auto unique = report({"dedup", "--input", "clean.jsonl", "--output", "unique.jsonl"});
  EXPECT_EQ(unique.at("removed"), 1);
  EXPECT_TRUE(read_file(folder_ / "unique.jsonl").starts_with("{\"id\": \"x-0000000001\", \"text"));
  EXPECT_EQ(run({"clean", "--input", "none.jsonl", "--output", "o"}).code, 4);
  EXPECT_EQ(run({"dedup", "--input", "in.jsonl", "--output", "o", "--num-bands", "7"}).code, 2);
}

}  // namespace corpus_tools_test
}  // namespace mpitron::cli
