#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/tiny_run.h"

// `merge-datasets` as a user types it.

namespace mpitron::cli {
namespace merge_datasets_test {

using namespace mpitron::test;

class MergeDatasets : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_ / "parts");
    add_part("b", "{\"text\":\"1 2 3\"}\n{\"text\":\"4\"}\n");
    add_part("a", "{\"text\":\"5 6\"}\n");
  }
  void add_part(const std::string& name, const std::string& lines) const {
    write_bytes(folder_ / "in.jsonl", lines);
    ASSERT_EQ(preprocess_ids(folder_, "in.jsonl", "parts/" + name).code, 0);
  }
  Finished merge(const std::string& input, const Words& more = {"--output-prefix", "all"}) const {
    return run_program(folder_.path(), Words{"merge-datasets", "--input", input} + more);
  }
  void expect_refused(const Finished& finished, int code, const std::string& part) const {
    EXPECT_EQ(finished.code, code);
    EXPECT_TRUE(contains(finished.err, part)) << finished.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "all.bin"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "all.idx"));
  }
  const TemporaryFolder folder_;
  const std::string part_ = folder_ / "parts/a_text_document";
};

TEST_F(MergeDatasets, PartsFollowInTheOrderOfTheirNames) {
  const Finished merged = merge("parts");
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(merged.out,
            "2 corpora, 3 documents, 3 sequences, 9 tokens\nwrote all.bin and all.idx\n");
  const Words documents = {"5 6 63\n", "1 2 3 63\n", "4 63\n"};
  for (std::size_t d = 0; d < documents.size(); ++d) {
    const Words words = {"dataset", "inspect", "all", "--document", std::to_string(d)};
    EXPECT_EQ(run_program(folder_.path(), words).out, documents[d]);
  }
}

TEST_F(MergeDatasets, OnePartIsCopied) {
  std::filesystem::remove(folder_ / "parts/b_text_document.bin");
  std::filesystem::remove(folder_ / "parts/b_text_document.idx");
  const Finished merged = merge("parts", {"--output-prefix", "all", "--json"});
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(nlohmann::json::parse(merged.out, nullptr, false),
            nlohmann::json::parse(
                R"({"parts":1,"documents":1,"sequences":1,"tokens":3,"prefix":"all"})"));
  for (const char* ending : {".bin", ".idx"}) {
    EXPECT_EQ(read_file(folder_ / "all" + ending), read_file(part_ + ending));
  }
}

TEST_F(MergeDatasets, SaysWhatIsWrongAndWritesNothing) {
  std::filesystem::create_directory(folder_ / "empty");
  expect_refused(merge("empty"), 4, "holds no .bin and .idx files");
  expect_refused(merge("none"), 4, "cannot read the folder");
  expect_refused(merge("parts", {}), 2, "--output-prefix is required");
  const std::string before = read_file(part_ + ".bin");
  expect_refused(merge("parts", {"--output-prefix", "parts/a_text_document"}), 2,
                 "is one of the corpora to merge");
  EXPECT_EQ(read_file(part_ + ".bin"), before);
  std::filesystem::remove(part_ + ".idx");
  expect_refused(merge("parts"), 4, "a_text_document.idx is missing");
}

}  // namespace merge_datasets_test
}  // namespace mpitron::cli
