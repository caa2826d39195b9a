#include "corpus/text_fixes.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/utf8.h"

namespace mpitron::corpus {
namespace {

TEST(TextFixesTest, UndoesMisreadings) {
  EXPECT_EQ(fix_text("cafÃ© dâ€™Ã©tÃ©"), "café d'été");
  EXPECT_EQ(fix_text("cafÃƒÂ©"), "café");  // twice over
  EXPECT_EQ(fix_text("ðŸ˜€ Â°"), "😀 °");
  EXPECT_EQ(fix_text("Ð¿Ñ€Ð¸Ð²ÐµÑ‚"), "привет");
}

TEST(TextFixesTest, LeavesGoodTextAlone) {
  for (const std::string_view text :
       {"", "plain\n\ttext", "café 日本語 😀 «été» – ok", "R&D and AT&T;", "CAFÉ™", "Ångström Â"})
    EXPECT_EQ(fix_text(text), text);
}

TEST(TextFixesTest, SimplifiesCharacters) {
  EXPECT_EQ(fix_text("a\r\nb\rc\xE2\x80\xA8"
                     "d"),
            "a\nb\nc\nd");
  EXPECT_EQ(fix_text("\xEF\xBB\xBFx\x01y\x7Fz\x1b[31mred\x1b[0m"), "xyzred");
  EXPECT_EQ(fix_text("“ﬁne” ‘ｗｉｄｅ’"), "\"fine\" 'wide'");
  EXPECT_EQ(fix_text("a &amp; b &lt;3 &#8364; &quot;q&quot;"), "a & b <3 € \"q\"");
  EXPECT_EQ(fix_text("<p>a &amp; b</p>"), "<p>a &amp; b</p>");  // tags: not plain text
}

TEST(TextFixesTest, AFixedTextIsFixedAndValid) {
  const std::string text = "cafÃƒÂ© â€œx&amp;#233;â€\x9D\r\n\x1b[3m ﬁ ï¼¡ ðŸ˜€ &quot;";
  test::for_each_mutation(text, 3000, [](const std::string& bytes) {
    const std::string fixed = fix_text(replace_invalid_utf8(bytes));
    EXPECT_EQ(fix_text(fixed), fixed);
    EXPECT_EQ(replace_invalid_utf8(fixed), fixed);
  });
}

}  // namespace
}  // namespace mpitron::corpus
