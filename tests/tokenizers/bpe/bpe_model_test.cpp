#include "tokenizers/bpe/bpe_model.h"

#include <fstream>

#include <gtest/gtest.h>

#include "tokenizers/golden_tokenizer.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::tokenizers {
namespace bpe_model_test {

class BpeModelFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy(golden_tokenizer_dir() / "gpt2/vocab.json", vocab_);
    std::filesystem::copy(golden_tokenizer_dir() / "gpt2/merges.txt", merges_);
  }
  static void write(const std::string& path, const std::string& text) {
    std::filesystem::remove(path);
    std::ofstream(path) << text;
  }
  void expect_error(const std::string& part) const {
    try {
      load_bpe_model(vocab_, merges_);
      FAIL() << "loaded; expected: " << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  test::TemporaryFolder folder_;
  std::string vocab_ = folder_ / "vocab.json";
  std::string merges_ = folder_ / "merges.txt";
};

TEST_F(BpeModelFiles, WritesWhatGpt2Published) {
  const BpeModel model = load_bpe_model(vocab_, merges_);
  EXPECT_EQ(model.tokens.size(), 50257U);
  EXPECT_EQ(model.merges.size(), 50000U);
  EXPECT_EQ(model.eod, 50256);
  save_bpe_model(model, folder_ / "v", folder_ / "m");
  EXPECT_EQ(read_file(folder_ / "m"), read_file(merges_));
  EXPECT_EQ(read_file(folder_ / "v"), read_file(vocab_) + "\n");
}

TEST_F(BpeModelFiles, MissingFiles) {
  std::filesystem::remove(merges_);
  expect_error("--merge-file");
  std::filesystem::remove(vocab_);
  expect_error("--vocab-file");
}

TEST_F(BpeModelFiles, FilesThatAreSomethingElse) {
  write(vocab_, "[1, 2]");
  expect_error("a JSON object");
  write(vocab_, "{\"a\": \"b\"}");
  expect_error("must hold an integer");
  write(vocab_, "{\"a\": 0, \"b\": 2}");
  expect_error("must be 0 to 1");
  write(vocab_, "{\"a\": 0, \"a\": 1}");
  expect_error("appears twice");
  write(vocab_, "{\"a\": 0}");
  expect_error("no token for byte 0x00");
  write(vocab_, "");
  expect_error("--vocab-file");
}

TEST_F(BpeModelFiles, MergesOfAnotherVocabulary) {
  write(merges_, "#version: 0.2\nh e\nq z\n");
  expect_error("merges.txt:3: token \"qz\" is not in");
}

}  // namespace bpe_model_test
}  // namespace mpitron::tokenizers
