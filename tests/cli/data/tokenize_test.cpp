#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/tiny_run.h"

namespace mpitron::cli {
namespace tokenize_test {

using namespace mpitron::test;
using nlohmann::json;

class Tokenize : public ::testing::Test {
 protected:
  Finished run(const std::string& action, const std::string& input, const Words& more = {}) {
    write_bytes(folder_ / "in", input);
    const Words null = {"--tokenizer-type", "NullTokenizer", "--vocab-size", "100"};
    return run_program(folder_.path(), Words{"tokenize", action} + (more.empty() ? null : more),
                       {.standard_input = folder_ / "in"});
  }
  const TemporaryFolder folder_;
};

TEST_F(Tokenize, EncodesDecodesAndCounts) {
  EXPECT_EQ(run("encode", "{\"text\": \"1 2\"}\n{\"text\": \"\"}\n").out,
            "{\"ids\": [1, 2]}\n{\"ids\": []}\n");
  EXPECT_EQ(run("decode", "{\"ids\": [7, 8]}\n").out, "{\"text\": \"7 8\"}\n");
  const json sums = json::parse(run("count", "{\"text\": \"1 2\"}\n{\"text\": \"33\"}\n").out);
  EXPECT_EQ(sums.at("documents"), 2);
  EXPECT_EQ(sums.at("tokens"), 3);
  EXPECT_EQ(sums.at("bytes"), 5);
}

TEST_F(Tokenize, AnyTextSurvivesATrainedVocabulary) {
  const json text = {{"text", "na\u00efve \u4e16\u754c \U0001f600\n\ttabs  and \"quotes\" \\"}};
  write_bytes(folder_ / "corpus.jsonl", text.dump() + "\n" + text.dump() + "\n");
  ASSERT_EQ(run_program(folder_.path(), {"tokenizer", "train", "--input", "corpus.jsonl",
                                         "--vocab-size", "280", "--output-dir", "bpe"})
                .code,
            0);
  const Words bpe = {"--tokenizer-type", "GPT2BPETokenizer", "--vocab-file",
                     "bpe/vocab.json",   "--merge-file",     "bpe/merges.txt"};
  const Finished encoded = run("encode", text.dump() + "\n", bpe);
  ASSERT_EQ(encoded.code, 0) << encoded.err;
  EXPECT_EQ(json::parse(run("decode", encoded.out, bpe).out), text);
}

TEST_F(Tokenize, NamesTheLineThatIsWrong) {
  const Finished beyond = run("encode", "{\"text\": \"1\"}\n{\"text\": \"500\"}\n");
  EXPECT_EQ(beyond.code, 4);
  EXPECT_TRUE(contains(beyond.err, ":2: ")) << beyond.err;
  EXPECT_EQ(run("encode", "{\"text\": \n").code, 4);
  EXPECT_EQ(run("decode", "{\"ids\": [101]}\n").code, 4);
  EXPECT_EQ(run("decode", "{\"ids\": [\"a\"]}\n").code, 4);
}

TEST_F(Tokenize, RefusesUnknownActionsAndOptions) {
  EXPECT_EQ(run("reverse", "").code, 2);
  EXPECT_EQ(run("encode", "", {"--tokenizer-type", "Magic"}).code, 2);
  EXPECT_EQ(run("encode", "",
                {"--input", "absent", "--tokenizer-type", "NullTokenizer", "--vocab-size", "9"})
                .code,
            4);
}

}  // namespace tokenize_test
}  // namespace mpitron::cli
