#include <gtest/gtest.h>

#include "tokenizers/complaint.h"
#include "tokenizers/hugging_face/hf_steps.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace hf_normalizer_test {

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

void expect_complaint(const std::string& json, const std::vector<std::string>& parts) {
  test::expect_complaint(make_hf_normalizer, json, parts);
}

TEST(HfNormalizer, NormalForms) {
  EXPECT_EQ(apply(R"({"type":"NFC"})", "e\u0301\ufb01"), "\u00e9\ufb01");
  EXPECT_EQ(apply(R"({"type":"NFD"})", "\uac00\ufb01"), "\u1100\u1161\ufb01");
  EXPECT_EQ(apply(R"({"type":"NFKD"})", "\u00e9\ufb01"), "e\u0301fi");
  EXPECT_EQ(apply(R"({"type":"NFKC"})", "e\u0301\uff21"), "\u00e9A");
  for (const std::string form : {"NFC", "NFD", "NFKC", "NFKD"}) {
    const std::string json = R"({"type":")" + form + "\"}";
    EXPECT_EQ(hf_normalizer_test::apply(json, ""), "");
    EXPECT_EQ(hf_normalizer_test::apply(json, std::string("é\0b", 4)).back(), 'b');
    EXPECT_THROW(hf_normalizer_test::apply(json, "a\xFF"), Error);
  }
}

TEST(HfNormalizer, LowerCaseAndAccents) {
  EXPECT_EQ(apply(R"({"type":"Lowercase"})", "\u0130"), "i\u0307");
  EXPECT_EQ(apply(R"({"type":"Lowercase"})", "ΑΣ"), "ασ");  // no final sigma
  EXPECT_EQ(apply(R"({"type":"Lowercase"})", "@AZ[`az{"), "@az[`az{");
  EXPECT_EQ(apply(R"({"type":"StripAccents"})", "\u00e9"), "\u00e9");  // it does not decompose
  EXPECT_EQ(apply(R"({"type":"StripAccents"})", "a\u0903\u20dd"), "a");
  EXPECT_EQ(apply(R"({"type":"Sequence","normalizers":[{"type":"NFD"},{"type":"StripAccents"}]})",
                  "\u00e9"),
            "e");
}

TEST(HfNormalizer, StripTakesOnlyTheEnds) {
  EXPECT_EQ(apply(R"({"type":"Strip"})", "\t a b\u00a0\n"), "a b");
  EXPECT_EQ(apply(R"({"type":"Strip","strip_left":false})", " a "), " a");
  EXPECT_EQ(apply(R"({"type":"Strip","strip_left":false,"strip_right":false})", " a "), " a ");
  EXPECT_EQ(apply(R"({"type":"Strip","strip_left":false})", "  "), "");
  EXPECT_EQ(apply(R"({"type":"Strip","strip_right":false})", "  "), "");
  EXPECT_EQ(apply(R"({"type":"Strip","strip_left":false,"strip_right":false})", "  "), "  ");
  EXPECT_EQ(apply(R"({"type":"Strip"})", ""), "");
  EXPECT_EQ(hf_normalizer_test::apply(R"({"type":"Strip"})", std::string(" \0 ", 3)),
            std::string(1, '\0'));
}

TEST(HfNormalizer, ReplaceIsLiteralAboutItsContent) {
  const auto replace = [](const std::string& pattern, const std::string& content,
                          const std::string& text) {
    return hf_normalizer_test::apply(
        R"({"type":"Replace","pattern":)" + pattern + R"(,"content":")" + content + "\"}", text);
  };
  EXPECT_EQ(replace(R"({"Regex":"a+"})", "$0", "baab"), "b$0b");
  EXPECT_EQ(replace(R"({"String":"."})", "", "a.b."), "ab");
  EXPECT_EQ(replace(R"({"String":"aa"})", "a", "aaaaa"), "aaa");  // from left to right, once
  EXPECT_EQ(replace(R"({"String":""})", "x", "ab"), "ab");
  EXPECT_EQ(replace(R"({"Regex":"b*"})", "x", "abba"), "axa");
  EXPECT_EQ(replace(R"({"String":"a"})", "x", ""), "");
  EXPECT_EQ(replace(R"({"String":"a"})", "aa", "aba"), "aabaa");
}

TEST(HfNormalizer, SwitchesOfBert) {
  EXPECT_EQ(hf_normalizer_test::apply(R"({"type":"BertNormalizer"})",
                                      std::string("a\0b\uFFFD\u0085c", 9)),
            "abc");
  EXPECT_EQ(apply(R"({"type":"BertNormalizer"})", "a\nb\r\u00a0c"), "a b  c");
  EXPECT_EQ(apply(R"({"type":"BertNormalizer","clean_text":false})", "a\tB\u200b"), "a\tb\u200b");
  EXPECT_EQ(apply(R"({"type":"BertNormalizer","handle_chinese_chars":false})", "中"), "中");
  EXPECT_EQ(apply(R"({"type":"BertNormalizer"})", "\u4dff\u4e00\u9fff\u3042"),
            "\u4dff \u4e00  \u9fff \u3042");
  EXPECT_EQ(apply(R"({"type":"BertNormalizer","lowercase":false,"strip_accents":true})", "À"), "A");
  EXPECT_EQ(apply(R"({"type":"BertNormalizer","strip_accents":false})", "À"), "à");
  EXPECT_EQ(apply(R"({"type":"BertNormalizer","strip_accents":null})", "À"), "a");
}

TEST(HfNormalizer, SequencesMayBeEmptyOrNested) {
  EXPECT_EQ(apply(R"({"type":"Sequence","normalizers":[]})", "A"), "A");
  EXPECT_EQ(apply(R"({"type":"Sequence","normalizers":[null,{"type":"Sequence","normalizers":[
                  {"type":"Lowercase"}]},{"type":"Prepend","prepend":"X"}]})",
                  "A"),
            "Xa");
}

TEST(HfNormalizer, ComplaintsNameThePlace) {
  expect_complaint(R"({"type":"Nope"})", {"type is \"Nope\"", "this normalizer is not supported",
                                          "Sequence, NFC, NFD", "BertNormalizer, Precompiled"});
  expect_complaint(R"({"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"nfc"}]})",
                   {"normalizers[1].type", "\"nfc\""});
  expect_complaint("{}", {"type is missing"});
  expect_complaint("[]", {"an object is expected"});
  expect_complaint(R"({"type":"Sequence"})", {"normalizers is missing"});
  expect_complaint(R"({"type":"Prepend"})", {"prepend is missing"});
  expect_complaint(R"({"type":"Prepend","prepend":1})", {"prepend is 1", "a string is expected"});
  expect_complaint(R"({"type":"Replace","content":""})", {"pattern is missing"});
  expect_complaint(R"({"type":"Replace","pattern":{"String":"a"}})", {"content is missing"});
  expect_complaint(R"({"type":"Replace","pattern":{"Regex":"[a"},"content":""})",
                   {"pattern", "not understood"});
  expect_complaint(R"({"type":"Strip","strip_left":"yes"})", {"strip_left", "true or false"});
  expect_complaint(R"({"type":"Precompiled"})", {"precompiled_charsmap is missing"});
  expect_complaint(R"({"type":"Precompiled","precompiled_charsmap":"A%=="})", {"not base64"});
  EXPECT_NE(test::complaint(make_hf_normalizer,
                            R"({"type":"Precompiled","precompiled_charsmap":"AAAA"})"),
            "");
}

}  // namespace hf_normalizer_test
}  // namespace mpitron::tokenizers
