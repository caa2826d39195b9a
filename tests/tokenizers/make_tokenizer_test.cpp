#include "tokenizers/make_tokenizer.h"

#include <gtest/gtest.h>

#include "tokenizers/core/tokenizer.h"
#include "tokenizers/golden_tokenizer.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace make_tokenizer_test {

TEST(Tokenizer, FactoryMakesWhatTheFlagsName) {
  const auto gpt2 = make_tokenizer({"GPT2BPETokenizer", golden_tokenizer_dir() / "gpt2/vocab.json",
                                    golden_tokenizer_dir() / "gpt2/merges.txt"});
  EXPECT_EQ(gpt2->name(), "GPT2BPETokenizer");
  EXPECT_EQ(gpt2->fingerprint(), gpt2_tokenizer().fingerprint());
  const auto null = make_tokenizer({.type = "NullTokenizer", .vocab_size = 7});
  EXPECT_EQ(null->vocab_size(), 8);
}

TEST(Tokenizer, FactoryRefusesByName) {
  EXPECT_NE(test::message_of([] {
              make_tokenizer({.type = "SentencePieceTokenizer"});
            }).find("SentencePiece"),
            std::string::npos);
  EXPECT_NE(test::message_of([] {
              make_tokenizer({"GPT2BPETokenizer", "v.json", ""});
            }).find("--merge-file is missing"),
            std::string::npos);
}

TEST(Tokenizer, IdsOutsideTheVocabulary) {
  EXPECT_NO_THROW(check_token_id(9, 10));
  EXPECT_THROW(check_token_id(10, 10), Error);
  EXPECT_THROW(check_token_id(-1, 10), Error);
}

}  // namespace make_tokenizer_test
}  // namespace mpitron::tokenizers
