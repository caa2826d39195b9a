#include "tokenizers/hf_normalizer.h"

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace {

std::string apply(const std::string& json, std::string text) {
  const JsonDocument document(json);
  make_hf_normalizer(document.root())(text);
  return text;
}

TEST(HfNormalizer, EveryKind) {
  EXPECT_EQ(apply(R"({"type":"NFD"})", "\u00e9"), "e\u0301");
  EXPECT_EQ(apply(R"({"type":"NFKC"})", "\ufb01"), "fi");
  EXPECT_EQ(apply(R"({"type":"Lowercase"})", "AÉ"), "aé");
  EXPECT_EQ(apply(R"({"type":"StripAccents"})", "e\u0301x"), "ex");
  EXPECT_EQ(apply(R"({"type":"Strip","strip_left":true,"strip_right":false})", " \u3000a "), "a ");
  EXPECT_EQ(apply(R"({"type":"Strip"})", "  "), "");
  EXPECT_EQ(apply(R"({"type":"Prepend","prepend":"_"})", "a"), "_a");
  EXPECT_EQ(apply(R"({"type":"Prepend","prepend":"_"})", ""), "");
  EXPECT_EQ(apply(R"({"type":"Replace","pattern":{"String":" "},"content":"_"})", " a b"), "_a_b");
  EXPECT_EQ(apply(R"({"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "})", "a   b"),
            "a b");
  EXPECT_EQ(apply(R"({"type":"BertNormalizer"})", "ÀB\u200b\tc中"), "ab c 中 ");
  EXPECT_EQ(apply(R"({"type":"BertNormalizer","lowercase":false})", "À"), "À");
}

TEST(HfNormalizer, SequencesRunInOrder) {
  EXPECT_EQ(apply(R"({"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"A "},
                  {"type":"Lowercase"}]})",
                  "B"),
            "a b");
}

TEST(HfNormalizer, NullIsNothing) {
  const JsonDocument document("null");
  EXPECT_FALSE(make_hf_normalizer(document.root()));
}

}  // namespace
}  // namespace mpitron::tokenizers
