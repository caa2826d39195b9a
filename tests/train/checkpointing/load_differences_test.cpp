#include "train/checkpointing/load_differences.h"

#include <gtest/gtest.h>

#include "checkpoint/format/file.h"

namespace mpitron::train {
namespace load_differences_test {

checkpoint::Header header(const char* configuration, Index vocabulary) {
  checkpoint::Header header{.configuration = configuration};
  header.integers[checkpoint::kVocabularySize] = vocabulary;
  return header;
}

TEST(OtherModel, OptionsAndTokensAreCompared) {
  const RunIdentity run{.configuration = R"({"num_layers": 2, "vocab_size": 600})",
                        .vocabulary = 601};
  EXPECT_EQ(model_differences(header(run.configuration.c_str(), 601), run), "");
  EXPECT_EQ(model_differences(header(R"({"num_layers": 2, "vocab_size": 511})", 512), run),
            "512 tokens, here 601 (vocab_size 511, here 600)");
  EXPECT_EQ(model_differences(header(R"({"num_layers": 3, "vocab_size": 600})", 512), run),
            "num_layers 3, here 2; 512 tokens, here 601");
}

TEST(OtherModel, WhatIsNotToldIsNoDifference) {
  const RunIdentity run{.configuration = "{}", .vocabulary = 601};
  EXPECT_EQ(model_differences({}, run), "");
  EXPECT_EQ(model_differences(header("{}", 512), {.configuration = "{}"}), "");
}

}  // namespace load_differences_test
}  // namespace mpitron::train
