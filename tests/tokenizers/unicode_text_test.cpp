#include "tokenizers/unicode_text.h"

#include <vector>

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::tokenizers {
namespace {

TEST(UnicodeText, NormalForms) {
  EXPECT_EQ(normalize("\u00e9", NormalForm::nfd), "e\u0301");
  EXPECT_EQ(normalize("e\u0301", NormalForm::nfc), "\u00e9");
  EXPECT_EQ(normalize("\ufb01\u2460", NormalForm::nfc), "\ufb01\u2460");
  EXPECT_EQ(normalize("\ufb01\u2460", NormalForm::nfkc), "fi1");
  EXPECT_EQ(normalize("\uac01", NormalForm::nfkd), "\u1100\u1161\u11a8");
  EXPECT_EQ(normalize(std::string_view("a\0b", 3), NormalForm::nfc).size(), 3U);
  EXPECT_THROW(normalize("\xFF", NormalForm::nfc), Error);
}

TEST(UnicodeText, LowerCase) {
  EXPECT_EQ(lower_case("ABC \u00c4\u01c5\u1e9e"), "abc \u00e4\u01c6\u00df");
  EXPECT_EQ(lower_case("\u0130"), "i\u0307");
  EXPECT_EQ(lower_case("\u039f\u03a3"), "\u03bf\u03c3");
  EXPECT_EQ(lower_case_with_final_sigma("\u039f\u03a3"), "\u03bf\u03c2");
  EXPECT_EQ(lower_case_with_final_sigma("\u03a3\u039f"), "\u03c3\u03bf");
  EXPECT_EQ(lower_case_with_final_sigma("\u039f\u03a3'"), "\u03bf\u03c2'");
}

TEST(UnicodeText, Classes) {
  EXPECT_EQ(strip_nonspacing_marks("e\u0301x\u0903"), "ex\u0903");
  EXPECT_TRUE(is_mark(0x903));
  EXPECT_TRUE(is_number(0xBD));
  EXPECT_TRUE(is_bert_punctuation('$'));
  EXPECT_FALSE(is_punctuation('$'));
  EXPECT_TRUE(is_control_or_format(0xAD));
  EXPECT_TRUE(is_other(0xE000));
  EXPECT_TRUE(is_white_space(0x2028));
  EXPECT_FALSE(is_space_separator(0x2028));
  EXPECT_TRUE(is_word('_'));
  EXPECT_FALSE(is_word(0xBD));
  EXPECT_TRUE(is_cjk(0x4E2D));
  EXPECT_FALSE(is_cjk(0x30AB));
}

TEST(UnicodeText, Graphemes) {
  std::vector<std::string> clusters;
  for_graphemes("e\u0301a\U0001F469\u200d\U0001F469",
                [&](std::string_view cluster) { clusters.emplace_back(cluster); });
  EXPECT_EQ(clusters, (std::vector<std::string>{"e\u0301", "a", "\U0001F469\u200d\U0001F469"}));
}

}  // namespace
}  // namespace mpitron::tokenizers
