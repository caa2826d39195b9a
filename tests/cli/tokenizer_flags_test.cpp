#include "cli/tokenizer_flags.h"

#include <gtest/gtest.h>

namespace mpitron::cli {
namespace {

TEST(TokenizerFlags, FillTheOptionsUnderMegatronsNames) {
  tokenizers::TokenizerOptions options;
  Flags flags("test", "A test.");
  add_tokenizer_options(flags, options);
  EXPECT_TRUE(flags.parse({"--tokenizer-type", "NullTokenizer", "--vocab_file", "v", "--merge-file",
                           "m", "--vocab-size=12"}));
  EXPECT_EQ(options.type, "NullTokenizer");
  EXPECT_EQ(options.vocab_file, "v");
  EXPECT_EQ(options.merge_file, "m");
  EXPECT_EQ(options.vocab_size, 12);
}

TEST(TokenizerFlags, DefaultToGpt2) {
  tokenizers::TokenizerOptions options;
  Flags flags("test", "A test.");
  add_tokenizer_options(flags, options);
  EXPECT_TRUE(flags.parse({}));
  EXPECT_EQ(options.type, "GPT2BPETokenizer");
}

}  // namespace
}  // namespace mpitron::cli
