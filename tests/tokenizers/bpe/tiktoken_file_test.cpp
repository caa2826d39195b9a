#include <fstream>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/bpe/tik_tokenizer.h"
#include "tokenizers/tiktoken_samples.h"

namespace mpitron::tokenizers {
namespace tiktoken_file_test {

constexpr Index kAll = 1 << 20;

class TiktokenFile : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  std::string error_of(const std::string& name, const std::string& content) const {
    const std::string file = write(name, content);
    return test::message_of([&] { load_tiktoken_ranks(file, kAll); });
  }
  void expect_error(const std::string& content, const std::string& part) const {
    const std::string name = content.starts_with('[') ? "v.json" : "v.tiktoken";
    const std::string message = error_of(name, content);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  test::TemporaryFolder folder_;
};

TEST_F(TiktokenFile, BothFormsHoldTheSameTokens) {
  const std::vector<std::string> tokens = sample_ranks();
  EXPECT_EQ(load_tiktoken_ranks(write("v.json", tiktoken_json(tokens)), kAll), tokens);
  EXPECT_EQ(load_tiktoken_ranks(write("v.tiktoken", tiktoken_lines(tokens)), kAll), tokens);
  EXPECT_EQ(load_tiktoken_ranks(folder_ / "v.json", 258).size(), 258U);
  EXPECT_EQ(load_tiktoken_ranks(folder_ / "v.tiktoken", 258).size(), 258U);
}

TEST_F(TiktokenFile, SaysWhatIsWrong) {
  EXPECT_NE(test::message_of([&] {
              load_tiktoken_ranks(folder_ / "none.json", kAll);
            }).find("no such file"),
            std::string::npos);
  EXPECT_NE(error_of("v.json", "{}").find("a JSON list"), std::string::npos);
  EXPECT_NE(error_of("v.json", "").find("a JSON list"), std::string::npos);
  expect_error("[3]", "entry 0: \"rank\"");
  expect_error(R"([{"rank": 0, "token_bytes": "A"}])", "entry 0: base64");
  expect_error(R"([{"rank": 1, "token_bytes": "AA=="}])", "has rank 1");
  expect_error(R"([{"rank": 0, "token_bytes": "AQ=="}])", "the bytes 0x00 to 0xFF in order");
  expect_error("[]", "no token for byte 0x00");
  expect_error("AA== 1\n", ":1: a token in base64, a space and rank 0");
  expect_error("AA== 0\nAQ==\n", ":2: a token in base64");
  expect_error("AA 0\n", "base64 of at least one byte");
  std::vector<std::string> tokens = sample_ranks();
  tokens.push_back(tokens[300]);
  expect_error(tiktoken_lines(tokens), "have the same bytes");
}

}  // namespace tiktoken_file_test
}  // namespace mpitron::tokenizers
