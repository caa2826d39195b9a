#include "tokenizers/sentencepiece/sentencepiece_tokenizer.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/families_folder.h"

namespace mpitron::tokenizers {
namespace sentencepiece_tokenizer_test {

using Kind = SentencePieceTokenizer::Kind;

std::filesystem::path model(const std::string& name) {
  return families_folder() / name / "tokenizer.model";
}

TEST(SentencePieceTokenizer, AddsItsTokensBehindTheModel) {
  const SentencePieceTokenizer tokenizer(model("sp_unigram_nfkc"), Kind::plain, 2);
  const SentencePieceTokenizer bare(model("sp_unigram_nfkc"), Kind::gpt);
  const auto size = static_cast<TokenId>(bare.vocab_size());
  EXPECT_EQ(tokenizer.special_ids().cls, size);
  EXPECT_EQ(tokenizer.eod(), size + 2);
  EXPECT_EQ(tokenizer.special_ids().pad, size + 4);  // the model has <s> and </s>, but no <pad>
  EXPECT_EQ(tokenizer.special_ids().bos, 1);
  EXPECT_EQ(tokenizer.special_ids().sentinels, (TokenIds{size + 5, size + 6}));
  EXPECT_EQ(tokenizer.vocab_size(), bare.vocab_size() + 7);
  EXPECT_EQ(bare.eod(), 2);
  EXPECT_NE(tokenizer.fingerprint(), bare.fingerprint());
}

TEST(SentencePieceTokenizer, FindsItsTokensInTexts) {
  const SentencePieceTokenizer tokenizer(model("sp_unigram_nfkc"), Kind::plain);
  const TokenIds ids = tokenizer.Tokenizer::encode("<MASK>the");
  EXPECT_EQ(ids.front(), tokenizer.special_ids().mask);
  EXPECT_EQ(tokenizer.decode(ids), " <MASK> the");
}

TEST(SentencePieceTokenizer, Llama2BeginsWithBos) {
  const SentencePieceTokenizer tokenizer(model("sp_bpe_llama"), Kind::llama2);
  EXPECT_EQ(tokenizer.Tokenizer::encode(""), (TokenIds{1}));
  EXPECT_EQ(tokenizer.identity().class_name, "_Llama2Tokenizer");
}

}  // namespace sentencepiece_tokenizer_test
}  // namespace mpitron::tokenizers
