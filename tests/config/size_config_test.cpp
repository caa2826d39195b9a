#include "config/size_config.h"

#include <gtest/gtest.h>

namespace mpitron::config {
namespace size_config_test {

TEST(PadVocabSize, FillsAMultipleOnEveryTensorParallelRank) {
  EXPECT_EQ(pad_vocab_size(50257, 128, 1), 50304);
  EXPECT_EQ(pad_vocab_size(50257, 128, 8), 51200);
  EXPECT_EQ(pad_vocab_size(51200, 128, 8), 51200);  // nothing where it fits
}

}  // namespace size_config_test
}  // namespace mpitron::config
