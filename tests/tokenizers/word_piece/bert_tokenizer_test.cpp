#include "tokenizers/word_piece/bert_tokenizer.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::tokenizers {
namespace bert_tokenizer_test {

class BertVocabulary : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    std::ofstream(folder_ / "vocab.txt") << text;
    return folder_ / "vocab.txt";
  }
  test::TemporaryFolder folder_;
};

constexpr const char* kTokens = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\r\nwor\n##ld\n.\n";

TEST_F(BertVocabulary, AddsItsTokensAndEncodes) {
  const BertTokenizer tokenizer(write(kTokens), {.lower_case = true, .extra_ids = 2});
  EXPECT_EQ(tokenizer.vocab_size(), 13);
  EXPECT_EQ(tokenizer.eod(), 10);
  EXPECT_EQ(tokenizer.special_ids().bos, 9);
  EXPECT_EQ(tokenizer.special_ids().sentinels, (TokenIds{11, 12}));
  EXPECT_EQ(tokenizer.Tokenizer::encode("Hello WORLD. xyz"), (TokenIds{5, 6, 7, 8, 1}));
  EXPECT_EQ(tokenizer.decode(TokenIds{5, 6, 7, 8}), "hello world.");
}

TEST_F(BertVocabulary, CaseMatters) {
  const BertTokenizer tokenizer(write(kTokens), {.lower_case = false});
  EXPECT_EQ(tokenizer.Tokenizer::encode("Hello hello"), (TokenIds{1, 5}));
}

TEST_F(BertVocabulary, RefusesBrokenOnes) {
  const auto message = [&](const std::string& text) {
    const std::string file = write(text);
    return test::message_of([&] { BertTokenizer tokenizer(file, {}); });
  };
  EXPECT_NE(message("a\nb\na\n").find("vocab.txt:3"), std::string::npos);
  EXPECT_NE(message("[UNK]\n").find("[PAD]"), std::string::npos);
  EXPECT_NE(message("\xFF\n").find("UTF-8"), std::string::npos);
}

}  // namespace bert_tokenizer_test
}  // namespace mpitron::tokenizers
