#include "cli/data/tokenizer_flags.h"

#include <gtest/gtest.h>

namespace mpitron::cli {
namespace tokenizer_flags_test {

TEST(TokenizerFlags, FillTheOptionsUnderMegatronsNames) {
  tokenizers::TokenizerOptions options;
  Flags flags("test", "A test.");
  add_tokenizer_options(flags, options);
  EXPECT_TRUE(flags.parse({"--tokenizer-type", "NullTokenizer", "--vocab_file", "v", "--merge-file",
                           "m", "--vocab-size=12", "--tokenizer-model", "t.json",
                           "--tiktoken-pattern", "v1", "--tiktoken-num-special-tokens", "5",
                           "--tiktoken-special-tokens", "<unk>", "<s>", "</s>"}));
  EXPECT_EQ(options.type, "NullTokenizer");
  EXPECT_EQ(options.vocab_file, "v");
  EXPECT_EQ(options.merge_file, "m");
  EXPECT_EQ(options.vocab_size, 12);
  EXPECT_EQ(options.tokenizer_model, "t.json");
  EXPECT_EQ(options.tiktoken_pattern, "v1");
  EXPECT_EQ(options.tiktoken_num_special_tokens, 5);
  EXPECT_EQ(options.tiktoken_special_tokens, (std::vector<std::string>{"<unk>", "<s>", "</s>"}));
}

TEST(TokenizerFlags, DefaultToGpt2) {
  tokenizers::TokenizerOptions options;
  Flags flags("test", "A test.");
  add_tokenizer_options(flags, options);
  EXPECT_TRUE(flags.parse({}));
  EXPECT_EQ(options.type, "GPT2BPETokenizer");
}

}  // namespace tokenizer_flags_test
}  // namespace mpitron::cli
