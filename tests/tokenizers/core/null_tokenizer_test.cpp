#include "tokenizers/core/null_tokenizer.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace null_tokenizer_test {

TEST(NullTokenizer, ReadsAndWritesIntegers) {
  const NullTokenizer tokenizer(100);
  EXPECT_EQ(tokenizer.encode(" 1 23\n99  0 "), (TokenIds{1, 23, 99, 0}));
  EXPECT_EQ(tokenizer.decode(TokenIds{1, 23, 99}), "1 23 99");
  EXPECT_EQ(tokenizer.encode(""), TokenIds{});
  EXPECT_EQ(tokenizer.eod(), 100);
  EXPECT_EQ(tokenizer.vocab_size(), 101);
  EXPECT_EQ(tokenizer.identity().options[0].second, "100");
}

TEST(NullTokenizer, RejectsOtherText) {
  const NullTokenizer tokenizer(100);
  EXPECT_NE(test::message_of([&] { tokenizer.encode("1 two"); }).find("byte 2 stands 'two'"),
            std::string::npos);
  for (const char* text : {"101", "-1", "1.5", "99999999999", "1,2"}) {
    EXPECT_THROW(tokenizer.encode(text), Error) << text;
  }
}

TEST(NullTokenizer, NeedsAVocabularySize) {
  EXPECT_THROW(NullTokenizer(0), Error);
  EXPECT_THROW(NullTokenizer(Index{1} << 40), Error);
}

}  // namespace null_tokenizer_test
}  // namespace mpitron::tokenizers
