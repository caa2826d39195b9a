#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/program.h"

namespace mpitron::cli {
namespace tokenizer_test {

using namespace mpitron::test;

const char* const kText =
    "{\"text\": \"the cat sat on the mat, the hat on the cat\"}\n"
    "{\"text\": \"that mat, that hat, that cat\"}\n";

class TokenizerCommand : public ::testing::Test {
 protected:
  TokenizerCommand() { write_bytes(folder_ / "in.jsonl", kText); }
  Finished train(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"tokenizer", "train", "--input", "in.jsonl"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(folder_.path(), words);
  }
  const TemporaryFolder folder_;
};

TEST_F(TokenizerCommand, LearnsThePairsThatOccurMost) {
  const Finished finished = train({"--vocab-size", "260", "--output-dir", "bpe"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "260 tokens, 3 merges")) << finished.out;
  const auto vocab = nlohmann::json::parse(read_file(folder_ / "bpe/vocab.json"));
  EXPECT_EQ(vocab.size(), 260U);
  EXPECT_TRUE(vocab.contains("at"));  // the commonest pair of the text
  EXPECT_TRUE(contains(read_file(folder_ / "bpe/merges.txt"), "a t\n"));
}

TEST_F(TokenizerCommand, TheResultDoesNotDependOnTheNumberOfWorkers) {
  ASSERT_EQ(train({"--vocab-size", "270", "--output-dir", "a", "--workers", "1"}).code, 0);
  ASSERT_EQ(train({"--vocab-size", "270", "--output-dir", "b", "--workers", "3"}).code, 0);
  EXPECT_EQ(read_file(folder_ / "a/vocab.json"), read_file(folder_ / "b/vocab.json"));
  EXPECT_EQ(read_file(folder_ / "a/merges.txt"), read_file(folder_ / "b/merges.txt"));
}

TEST_F(TokenizerCommand, SaysWhenTheTextIsTooSmall) {
  const Finished finished = train({"--vocab-size", "5000", "--output-dir", "bpe"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_TRUE(contains(finished.err, "no pair occurs twice any more")) << finished.err;
}

TEST_F(TokenizerCommand, RefusesMistakes) {
  EXPECT_EQ(train({"--vocab-size", "10", "--output-dir", "bpe"}).code, 2);  // fewer than the bytes
  EXPECT_EQ(train({"--vocab-size", "300"}).code, 2);
  EXPECT_EQ(train({"--vocab-size", "300", "--output-dir", "bpe", "--workers", "0"}).code, 2);
  EXPECT_EQ(train({"--vocab-size", "300", "--output-dir", "in.jsonl/bpe"}).code, 4);
  EXPECT_EQ(run_program(folder_.path(), {"tokenizer", "learn"}).code, 2);
  write_bytes(folder_ / "none.jsonl", "");
  EXPECT_EQ(run_program(folder_.path(), {"tokenizer", "train", "--input", "none.jsonl",
                                         "--vocab-size", "300", "--output-dir", "empty"})
                .code,
            4);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "empty/vocab.json"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "bpe"));
}

}  // namespace tokenizer_test
}  // namespace mpitron::cli
