#include "tokenizers/text/unicode_text.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace unicode_text_test {

TEST(UnicodeText, NormalForms) {
  EXPECT_EQ(normalize("\u00e9", NormalForm::nfd), "e\u0301");
  EXPECT_EQ(normalize("e\u0301", NormalForm::nfc), "\u00e9");
  EXPECT_EQ(normalize("\ufb01\u2460", NormalForm::nfc), "\ufb01\u2460");
  EXPECT_EQ(normalize("\ufb01\u2460", NormalForm::nfkc), "fi1");
  EXPECT_EQ(normalize("\uac01", NormalForm::nfkd), "\u1100\u1161\u11a8");
  EXPECT_EQ(normalize(std::string_view("a\0b", 3), NormalForm::nfc).size(), 3U);
  EXPECT_THROW(normalize("\xFF", NormalForm::nfc), Error);
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

std::vector<std::string> graphemes(std::string_view text) {
  std::vector<std::string> clusters;
  for_graphemes(text, [&](std::string_view cluster) { clusters.emplace_back(cluster); });
  return clusters;
}

TEST(UnicodeText, NormalFormsOrderAndComposeMarks) {
  // Marks are ordered by their class: the one below the letter comes first.
  EXPECT_EQ(normalize("a\u0301\u0316", NormalForm::nfd), "a\u0316\u0301");
  EXPECT_EQ(normalize("a\u0301\u0316", NormalForm::nfc), "\u00e1\u0316");
  EXPECT_EQ(normalize("\u212b", NormalForm::nfc), "\u00c5");        // a singleton
  EXPECT_EQ(normalize("\u0958", NormalForm::nfc), "\u0915\u093c");  // excluded from composition
  EXPECT_EQ(normalize("\u1100\u1161\u11a8", NormalForm::nfc), "\uac01");
  EXPECT_EQ(normalize("\uff21\u00a0\u00b2", NormalForm::nfkc), "A 2");
  EXPECT_EQ(normalize("\u1e9b\u0323", NormalForm::nfkc), "\u1e69");
  EXPECT_EQ(normalize("\u1e9b\u0323", NormalForm::nfkd), "s\u0323\u0307");
}

TEST(UnicodeText, NormalFormsOfEdges) {
  for (const NormalForm form :
       {NormalForm::nfc, NormalForm::nfd, NormalForm::nfkc, NormalForm::nfkd}) {
    EXPECT_EQ(normalize("", form), "");
    EXPECT_EQ(normalize("plain", form), "plain");
    EXPECT_EQ(normalize(std::string_view("\0\u4e2d\0", 5), form), std::string("\0\u4e2d\0", 5));
    EXPECT_EQ(normalize("\U0010ffff", form), "\U0010ffff");
    for (const char* wrong : {"a\xC3", "\xED\xA0\x80", "\xC0\x80", "\x80", "\xF4\x90\x80\x80"}) {
      EXPECT_NE(test::message_of([&] { normalize(wrong, form); }).find("not valid UTF-8"),
                std::string::npos);
    }
  }
}

TEST(UnicodeText, StripsOnlyNonspacingMarks) {
  EXPECT_EQ(strip_nonspacing_marks(""), "");
  EXPECT_EQ(strip_nonspacing_marks("plain"), "plain");
  EXPECT_EQ(strip_nonspacing_marks("\u0301\u0316"), "");
  EXPECT_EQ(strip_nonspacing_marks("\u00e9"), "\u00e9");    // composed: no mark of its own
  EXPECT_EQ(strip_nonspacing_marks("a\u20dd"), "a\u20dd");  // category Me
  EXPECT_EQ(test::message_of([] { strip_nonspacing_marks("a\xE2\x82"); }),
            "text is not valid UTF-8 at byte 1 (0xE2)");
}

TEST(UnicodeText, LimitsOfClasses) {
  for (const char c : std::string_view("!/:@[`{~")) {
    EXPECT_TRUE(is_bert_punctuation(static_cast<unsigned char>(c))) << c;
  }
  for (const char c : std::string_view(" 09AZaz\x7f")) {
    EXPECT_FALSE(is_bert_punctuation(static_cast<unsigned char>(c))) << c;
  }
  EXPECT_TRUE(is_bert_punctuation(0x2019));
  EXPECT_FALSE(is_bert_punctuation(0x20AC));
  EXPECT_TRUE(is_number(0x2167));
  EXPECT_FALSE(is_number(0x4E00));
  EXPECT_TRUE(is_mark(0x20DD));
  EXPECT_TRUE(is_control_or_format('\t'));
  EXPECT_FALSE(is_control_or_format(0xE000));
  EXPECT_FALSE(is_other(0x378));  // unassigned
  EXPECT_TRUE(is_white_space(0x85));
  EXPECT_FALSE(is_white_space(0x200B));
  EXPECT_TRUE(is_word(0x200D));
  EXPECT_TRUE(is_word(0x203F));
  EXPECT_FALSE(is_word('-'));
  for (const std::uint32_t c : {0x4E00U, 0x9FFFU, 0x3400U, 0x20000U, 0x2A6DFU, 0xF900U, 0x2FA1FU}) {
    EXPECT_TRUE(is_cjk(c)) << c;
  }
  for (const std::uint32_t c : {0x33FFU, 0x4DC0U, 0xA000U, 0x2A6E0U, 0xFB00U, 0x2FA20U, 0xAC00U}) {
    EXPECT_FALSE(is_cjk(c)) << c;
  }
}

TEST(UnicodeText, GraphemesOfEdges) {
  using Clusters = std::vector<std::string>;
  EXPECT_EQ(graphemes(""), Clusters());
  EXPECT_EQ(graphemes("a"), Clusters{"a"});
  EXPECT_EQ(graphemes("\r\n\n"), (Clusters{"\r\n", "\n"}));
  EXPECT_EQ(graphemes("\u0301a"), (Clusters{"\u0301", "a"}));
  EXPECT_EQ(graphemes("\u1100\u1161\u11a8"), Clusters{"\u1100\u1161\u11a8"});
  EXPECT_EQ(graphemes("\U0001F1E9\U0001F1EA\U0001F1EB"),
            (Clusters{"\U0001F1E9\U0001F1EA", "\U0001F1EB"}));
  EXPECT_EQ(graphemes(std::string_view("a\0b", 3)), (Clusters{"a", std::string(1, '\0'), "b"}));
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  replace_all(text, from, to);
  return text;
}

std::string cleaned(std::string text) {
  clean_up_spaces(text);
  return text;
}

TEST(TextCleanup, ReplacesAll) {
  EXPECT_EQ(replaced("", "a", "b"), "");
  EXPECT_EQ(replaced("xyz", "a", "b"), "xyz");
  EXPECT_EQ(replaced("abcab", "ab", "z"), "zcz");
  EXPECT_EQ(replaced("aaaaa", "aa", ""), "a");     // from left to right
  EXPECT_EQ(replaced("a", "aa", "b"), "a");        // longer than the text
  EXPECT_EQ(replaced("aba", "a", "aa"), "aabaa");  // what was put in is not looked at again
  EXPECT_EQ(replaced("aabb", "ab", ""), "ab");
  EXPECT_EQ(replaced(std::string("a\0b\0", 4), std::string_view("\0", 1), "-"), "a-b-");
}

TEST(TextCleanup, TakesSpacesBeforePunctuationAway) {
  EXPECT_EQ(cleaned(""), "");
  EXPECT_EQ(cleaned("a b"), "a b");
  EXPECT_EQ(cleaned("Hello , you ! Why ? So ."), "Hello, you! Why? So.");
  EXPECT_EQ(cleaned(" ."), ".");
  EXPECT_EQ(cleaned("a . . ."), "a...");
  EXPECT_EQ(cleaned("a  ."), "a .");  // one space each
  EXPECT_EQ(cleaned("a ; b : c"), "a ; b : c");
}

TEST(TextCleanup, TakesSpacesOfContractionsAway) {
  EXPECT_EQ(cleaned("I 'm , we 've , you 're , he 's , do n't"), "I'm, we've, you're, he's, don't");
  EXPECT_EQ(cleaned("don ' t"), "don't");
  EXPECT_EQ(cleaned("a 'll"), "a 'll");
  EXPECT_EQ(cleaned("a '"), "a '");
}

}  // namespace unicode_text_test

}  // namespace mpitron::tokenizers
