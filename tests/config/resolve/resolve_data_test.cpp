#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace resolve_data_test {

DataConfig data_of(const std::string& flags) {
  return test::parse_base(flags).run.data;
}

TEST(ResolveData, BlendsStayWords) {
  EXPECT_EQ(data_of("--data-path 0.3 a 0.7 b").data_path,
            (std::vector<std::string>{"0.3", "a", "0.7", "b"}));
  EXPECT_TRUE(data_of("").data_path.empty());
}

TEST(ResolveData, MasksAreMadeForWhateverKeepsDocumentsApart) {
  EXPECT_FALSE(data_of("").has_attention_masks());
  EXPECT_FALSE(data_of("--reset-position-ids").has_attention_masks());
  EXPECT_TRUE(data_of("--reset-attention-mask").has_attention_masks());
  EXPECT_TRUE(data_of("--dataloader-inter-document-masking").has_attention_masks());
}

TEST(ResolveData, NamesOfTokenizersAreTheReferences) {
  EXPECT_EQ(data_of("").tokenizer_type, TokenizerType::gpt2_bpe);
  EXPECT_EQ(data_of("--tokenizer-type TikTokenizer").tokenizer_type, TokenizerType::tik_token);
  EXPECT_EQ(data_of("--tokenizer-type GPTSentencePieceTokenizer").tokenizer_type,
            TokenizerType::gpt_sentence_piece);
}

}  // namespace resolve_data_test
}  // namespace mpitron::config
