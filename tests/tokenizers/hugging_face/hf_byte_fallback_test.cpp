#include <gtest/gtest.h>

#include "tokenizers/hugging_face/hf_steps.h"

namespace mpitron::tokenizers {
namespace hf_byte_fallback_test {

using Texts = std::vector<std::string>;

Texts tokens_of(Texts tokens) {
  const JsonDocument document("null");
  make_byte_fallback(document.root())(tokens);
  return tokens;
}

TEST(HfByteFallback, ReadsWholeRuns) {
  EXPECT_EQ(tokens_of({"<0xE4>", "<0xbd>", "<0xA0>"}), Texts{"你"});
  EXPECT_EQ(tokens_of({"a", "<0x41>", "<0xFF>"}), (Texts{"a", "\ufffd", "\ufffd"}));
  EXPECT_EQ(tokens_of({"<0xC0>", "<0x80>"}), (Texts{"\ufffd", "\ufffd"}));
  EXPECT_EQ(tokens_of({"<0x00>"}), Texts{std::string(1, '\0')});
  const Texts others = {"<0xG1>", "<0x1G>", "<0x1>", "<0x100>", "<0X41>", "<0x41)", "<0x-1>", ""};
  EXPECT_EQ(tokens_of(others), others);
  EXPECT_EQ(tokens_of({}), Texts{});
}

TEST(HfByteFallback, TellsTheByteOfAToken) {
  EXPECT_EQ(fallback_byte("<0x0A>"), 10);
  EXPECT_EQ(fallback_byte("<0xff>"), 255);
  EXPECT_EQ(fallback_byte("<0xff> "), -1);
}

}  // namespace hf_byte_fallback_test
}  // namespace mpitron::tokenizers
