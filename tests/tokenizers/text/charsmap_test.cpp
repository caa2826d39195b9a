#include "tokenizers/text/charsmap.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/families_folder.h"
#include "tokenizers/sentencepiece/sentencepiece_model.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace charsmap_test {

TEST(CharsMap, RulesOfNmtNfkc) {
  const CharsMap rules(
      load_sentencepiece_model(families_folder() / "sp_unigram_nfkc/tokenizer.model")
          .normalizer.charsmap);
  EXPECT_EQ(rules.longest("\ufb01x")->replacement, "fi");
  EXPECT_EQ(rules.longest("\ufb01x")->bytes, 3U);
  EXPECT_EQ(rules.longest("e\u0301x")->replacement, "\u00e9");
  EXPECT_EQ(rules.longest("\u3000")->replacement, " ");
  EXPECT_FALSE(rules.longest("x"));
  EXPECT_FALSE(rules.concerns_ascii('x'));
  EXPECT_TRUE(rules.concerns_ascii('\t'));
}

TEST(CharsMap, BrokenBlobs) {
  EXPECT_TRUE(CharsMap("").empty());
  EXPECT_THROW(CharsMap("abc"), Error);
  EXPECT_THROW(CharsMap(std::string_view("\x10\0\0\0abcdefgh", 12)), Error);
  // Any units may be walked: indices outside end a match.
  const CharsMap rules(
      std::string_view("\x08\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"
                       "ab",
                       14));
  EXPECT_FALSE(rules.longest("abc"));
}

}  // namespace charsmap_test
}  // namespace mpitron::tokenizers
