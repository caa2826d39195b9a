#include <gtest/gtest.h>

#include "config/sources/accepted_option.h"

namespace mpitron::config {
namespace option_words_test {

TEST(OptionWords, ChecksTheNumberOfWords) {
  EXPECT_EQ(only_id(accept("num-layers", {})), "E003");
  EXPECT_EQ(only_id(accept("num-layers", {"1", "2"})), "E003");
  EXPECT_EQ(only_id(accept("swiglu", {"true"})), "E003");
  EXPECT_EQ(only_id(accept("iterations-to-skip", {})), "E003");
  EXPECT_EQ(only_id(accept("data-path", {})), "");
}

TEST(OptionWords, ChecksTypesAndChoicesAndProposesTheNearest) {
  const Accepted million = accept("train-iters", {"1e6"});
  ASSERT_EQ(only_id(million), "E002");
  EXPECT_EQ(million.report.findings[0].nearest, "--train-iters 1000000");
  EXPECT_FALSE(million.values.has("train_iters"));
  for (const char* word : {"1000000000001", "-1000000000001", "9223372036854775808", "1e13"}) {
    const Accepted large = accept("train-iters", {word});
    ASSERT_EQ(only_id(large), "E002") << word;
    EXPECT_NE(large.report.findings[0].message.find("at most 1000000000000"), std::string::npos);
  }
  EXPECT_EQ(only_id(accept("train-iters", {"1000000000000"})), "");
  const Accepted norm = accept("normalization", {"RMSnorm"});
  ASSERT_EQ(only_id(norm), "E002");
  EXPECT_EQ(norm.report.findings[0].nearest, "--normalization RMSNorm");
  EXPECT_EQ(only_id(accept("lr", {"fast"})), "E002");
  EXPECT_EQ(only_id(accept("timing-log-level", {"3"})), "E002");
  EXPECT_EQ(only_id(accept("no-rope-freq", {"[1]*"})), "E002");
  EXPECT_EQ(only_id(accept("onnx-safe", {"yes"})), "E002");
}

}  // namespace option_words_test

}  // namespace mpitron::config
