#include "tokenizers/core/single_token.h"

#include <gtest/gtest.h>

#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::tokenizers {
namespace single_token_test {

TEST(SingleToken, IsOneThatGivesTheTextAgain) {
  const NullTokenizer tokenizer(100);
  EXPECT_EQ(single_token(tokenizer, "7"), 7);
  for (const char* text : {"1 2", " 7", "", "seven", "101"}) {
    EXPECT_EQ(single_token(tokenizer, text), std::nullopt) << text;
  }
}

}  // namespace single_token_test
}  // namespace mpitron::tokenizers
