#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/tiny_run.h"

// What `dataset inspect` prints of a small corpus, as a user types it.

namespace mpitron::cli {
namespace dataset_inspect_test {

using namespace mpitron::test;

class DatasetInspect : public ::testing::Test {
 protected:
  // Documents of 3, 2 and 4 ids, each with an eod (63), and an empty one.
  void SetUp() override {
    write_bytes(folder_ / "c.jsonl",
                "{\"text\":\"1 2 3\"}\n{\"text\":\"4 5\"}\n{\"text\":\"\"}\n"
                "{\"text\":\"6 7 8 9\"}\n");
    const Finished made = preprocess_ids(folder_, "c.jsonl", "c");
    ASSERT_EQ(made.code, 0) << made.err;
  }
  Finished inspect(const Words& words) const {
    return run_program(folder_.path(), Words{"dataset", "inspect"} + words);
  }
  nlohmann::json json(const Words& words) const {
    const Finished finished = inspect(words + Words{"--json"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return nlohmann::json::parse(finished.out, nullptr, false);
  }
  const TemporaryFolder folder_;
  const std::string prefix_ = "c_text_document";
};

TEST_F(DatasetInspect, CountsDocumentsTokensAndLengths) {
  const auto report = json({prefix_});
  EXPECT_EQ(report.at("prefix"), prefix_);
  EXPECT_EQ(report.at("type"), "uint16");
  EXPECT_EQ(report.at("documents"), 4);
  EXPECT_EQ(report.at("empty_documents"), 1);
  EXPECT_EQ(report.at("tokens"), 4 + 3 + 5);
  EXPECT_EQ(report.at("bytes"), 24);
  EXPECT_EQ(report.at("shortest"), 3);
  EXPECT_EQ(report.at("median"), 4);
  EXPECT_EQ(report.at("longest"), 5);
  EXPECT_EQ(report.at("percentile_90"), 5);
  EXPECT_EQ(report.at("histogram"), nlohmann::json::parse(R"([{"from":2,"to":4,"documents":1},
                                                             {"from":4,"to":8,"documents":2}])"));
}

TEST_F(DatasetInspect, TheTextHasTheSameNumbers) {
  const Finished text = inspect({prefix_});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, prefix_ + ": 4 documents (1 empty), ")) << text.out;
  EXPECT_TRUE(contains(text.out, "12 tokens of uint16")) << text.out;
  EXPECT_TRUE(contains(text.out, "3 to 5, mean 4.0, median 4, 90 % below 6")) << text.out;
  for (const char* ending : {".bin", ".idx"}) {
    EXPECT_EQ(inspect({prefix_ + ending}).out, text.out);
  }
}

TEST_F(DatasetInspect, PrintsADocument) {
  EXPECT_EQ(inspect({prefix_, "--document", "1"}).out, "4 5 63\n");
  EXPECT_EQ(json({prefix_, "--document", "3"}),
            nlohmann::json::parse(R"({"document":3,"ids":[6,7,8,9,63]})"));
  const auto decoded =
      json({prefix_, "--document", "0", "--tokenizer-type", "NullTokenizer", "--vocab-size", "63"});
  EXPECT_EQ(decoded.at("ids"), nlohmann::json::parse("[1,2,3,63]"));
  EXPECT_TRUE(decoded.at("text").get<std::string>().starts_with("1 2 3"));
  EXPECT_EQ(json({prefix_, "--document", "2"}).at("ids"), nlohmann::json::array());
}

TEST_F(DatasetInspect, AnHdf5FileHasTheSameNumbers) {
  const Words tokenizer = {"--tokenizer-type", "NullTokenizer", "--vocab-size", "63"};
  const Words convert = {"dataset", "convert", prefix_, "c.h5"};
  ASSERT_EQ(run_program(folder_.path(), convert + tokenizer).code, 0);
  auto expected = json({prefix_}), found = json({"c.h5"});
  EXPECT_TRUE(expected.at("tokenizer_fingerprint").is_null());
  EXPECT_TRUE(found.at("tokenizer_fingerprint").is_string());
  for (nlohmann::json* report : {&expected, &found}) {
    report->erase("prefix");
    report->erase("tokenizer_fingerprint");
  }
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(contains(inspect({"c.h5"}).out, "made with the tokenizer of fingerprint "));
  EXPECT_EQ(inspect({"c.h5", "--document", "1"}).out, "4 5 63\n");
}

TEST_F(DatasetInspect, SaysWhatIsWrong) {
  for (const char* document : {"4", "-2"}) {
    const Finished refused = inspect({prefix_, "--document", document});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(contains(refused.err, "has documents 0 to 3")) << refused.err;
  }
  const Finished unnamed = inspect({});
  EXPECT_EQ(unnamed.code, 2);
  EXPECT_TRUE(contains(unnamed.err, "name the corpus")) << unnamed.err;
  const Finished missing = inspect({"none"});
  EXPECT_EQ(missing.code, 4);
  EXPECT_TRUE(contains(missing.err, "none.idx: there is no such file")) << missing.err;
  write_bytes(folder_ / (prefix_ + ".bin"), "short");
  EXPECT_EQ(inspect({prefix_}).code, 4);
}

}  // namespace dataset_inspect_test
}  // namespace mpitron::cli
