#include <gtest/gtest.h>

#include "corpus/cleaner.h"
#include "corpus/sample_texts.h"
#include "utils/text/utf8.h"

namespace mpitron::corpus {
namespace text_repair_test {

TEST(TextRepair, UndoesMisreadings) {
  EXPECT_EQ(fix_text("cafÃ© dâ€™Ã©tÃ©"), "café d'été");
  EXPECT_EQ(fix_text("cafÃƒÂ©"), "café");  // twice over
  EXPECT_EQ(fix_text("ðŸ˜€ Â°"), "😀 °");
  EXPECT_EQ(fix_text("Ð¿Ñ€Ð¸Ð²ÐµÑ‚"), "привет");
}

TEST(TextRepair, LeavesGoodTextAlone) {
  for (const std::string_view text :
       {"", "plain\n\ttext", "café 日本語 😀 «été» – ok", "R&D and AT&T;", "CAFÉ™", "Ångström Â"}) {
    EXPECT_EQ(fix_text(text), text);
  }
}

TEST(TextRepair, SimplifiesCharacters) {
  EXPECT_EQ(fix_text("a\r\nb\rc\xE2\x80\xA8"
                     "d"),
            "a\nb\nc\nd");
  EXPECT_EQ(fix_text("\xEF\xBB\xBFx\x01y\x7Fz\x1b[31mred\x1b[0m"), "xyzred");
  EXPECT_EQ(fix_text("“ﬁne” ‘ｗｉｄｅ’"), "\"fine\" 'wide'");
  EXPECT_EQ(fix_text("a &amp; b &lt;3 &#8364; &quot;q&quot;"), "a & b <3 € \"q\"");
  EXPECT_EQ(fix_text("<p>a &amp; b</p>"), "<p>a &amp; b</p>");  // tags: not plain text
}

TEST(TextRepair, AFixedTextIsFixedAndValid) {
  const std::string text = "cafÃƒÂ© â€œx&amp;#233;â€\x9D\r\n\x1b[3m ﬁ ï¼¡ ðŸ˜€ &quot;";
  test::for_each_mutation(text, 3000, [](const std::string& bytes) {
    const std::string fixed = fix_text(replace_invalid_utf8(bytes));
    EXPECT_EQ(fix_text(fixed), fixed);
    EXPECT_EQ(replace_invalid_utf8(fixed), fixed);
  });
}

TEST(TextRepair, DecodesNamedEntities) {
  EXPECT_EQ(fix_text("&apos;a&apos; &gt; b&nbsp;c"), "'a' > b\u00A0c");
  EXPECT_EQ(fix_text("1&ndash;2&mdash;3"), "1\u20132\u20143");
  EXPECT_EQ(fix_text("&lsquo;a&rsquo; &ldquo;b&rdquo;"), "'a' \"b\"");
  EXPECT_EQ(fix_text("&AMP; &amp &unknown; &"), "&AMP; &amp &unknown; &");  // none of these is one
  EXPECT_EQ(fix_text("&amp;amp;amp; &amp;quot;"), "& \"");                  // escaped several times
  EXPECT_EQ(fix_text("&lt;b&gt; &amp;amp;"), "<b> &amp;");  // the first round makes it a tag
  EXPECT_EQ(fix_text("＆amp;"), "&");                       // a full-width ampersand
}

TEST(TextRepair, DecodesNumericEntitiesOfCharactersOnly) {
  EXPECT_EQ(fix_text("&#32;&#65;&#233;&#128512;|"), " Aé😀|");
  EXPECT_EQ(fix_text("&#1114111;"), "\xF4\x8F\xBF\xBF");  // the last one
  for (const std::string_view text : {"&#;", "&#65", "&#", "&#31;", "&#0;", "&#55296;", "&#57343;",
                                      "&#1114112;", "&#00000065;", "&#x41;", "&#6 5;", "&#-65;"}) {
    EXPECT_EQ(fix_text(text), text);
  }
  EXPECT_EQ(fix_text("&#55295;&#57344;"), "\uD7FF\uE000");  // the neighbours of the surrogates
  EXPECT_EQ(fix_text("a&#133;b&#127;c"), "a\nbc");          // then simplified like any character
  EXPECT_EQ(fix_text("&#195;&#169;"), "é");                 // and then found to be misread
}

TEST(TextRepair, RemovesControlCharacters) {
  EXPECT_EQ(fix_text(std::string_view("a\0b\0", 4)), "ab");
  EXPECT_EQ(fix_text("\x01\x08\x0B\x0C\x1F\x7F"), "");
  EXPECT_EQ(fix_text("\ta\tb\n\n"), "\ta\tb\n\n");
  EXPECT_EQ(fix_text("a\u0080b\u009Fc\u00A0d"), "abc\u00A0d");
  EXPECT_EQ(fix_text("\u2069a\u206Ab\u206Fc\u2070"), "\u2069abc\u2070");
  EXPECT_EQ(fix_text("\uFFF8a\uFFF9b\uFFFCc\uFFFD"), "\uFFF8abc\uFFFD");
  EXPECT_EQ(fix_text("a\uFEFFb"), "ab");
}

TEST(TextRepair, AllLineEndsBecomeNewlines) {
  EXPECT_EQ(fix_text("\r"), "\n");
  EXPECT_EQ(fix_text("\r\n\r\n"), "\n\n");
  EXPECT_EQ(fix_text("\r\r\n\n\r"), "\n\n\n\n");
  EXPECT_EQ(fix_text("a\u0085b\u2028c\u2029d"), "a\nb\nc\nd");
}

TEST(TextRepair, RemovesTerminalEscapes) {
  EXPECT_EQ(fix_text("\x1b[1;31mred\x1b[m \x1b[2Jx\x1b[10;20Hy"), "red xy");
  EXPECT_EQ(fix_text("a\x1b["), "a");  // cut off
  EXPECT_EQ(fix_text("a\x1b[12;"), "a");
  EXPECT_EQ(fix_text("a\x1b"), "a");
  EXPECT_EQ(fix_text("a\x1b(b"), "a(b");  // not one: only a control character
  EXPECT_EQ(fix_text("[31m"), "[31m");
  // No letter ends this one; a character of several bytes is never cut.
  EXPECT_EQ(fix_text("\x1b[1é").find("\uFFFD"), std::string::npos);
}

TEST(TextRepair, SimplifiesEachLigatureQuoteAndWideCharacter) {
  EXPECT_EQ(fix_text("\uFB00 \uFB01 \uFB02 \uFB03 \uFB04 \uFB05 \uFB06"), "ff fi fl ffi ffl st st");
  EXPECT_EQ(fix_text("\uFB07"), "\uFB07");
  EXPECT_EQ(fix_text("\u2018\u2019\u201A\u201B"), "''''");
  EXPECT_EQ(fix_text("\u201C\u201D\u201E\u201F"), "\"\"\"\"");
  EXPECT_EQ(fix_text("\uFF01\uFF21\uFF5A\uFF5E"), "!Az~");
  EXPECT_EQ(fix_text("\uFF00\uFF5F\u3000"), "\uFF00\uFF5F\u3000");
}

TEST(TextRepair, MisreadingsThatAreCutOffStay) {
  for (const std::string_view text : {"Ã", "Ã ", "aÃb", "Ãé", "ÿ©", "À©", "â€"}) {
    EXPECT_EQ(fix_text(text), text);
  }
  EXPECT_EQ(fix_text("Ã©Ã"), "éÃ");   // only the whole one is undone
  EXPECT_EQ(fix_text("â‚¬5"), "€5");  // three characters for one
}

}  // namespace text_repair_test
}  // namespace mpitron::corpus
