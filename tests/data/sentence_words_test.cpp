#include "data/sentence_words.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace {

TEST(SentenceWordsTest, EveryLanguageHasBothLists) {
  for (const std::string& language : sentence_languages()) {
    const SentenceWords& words = sentence_words(language);
    EXPECT_GE(words.abbreviations.size(), 40U) << language;
    EXPECT_GE(words.starters.size(), 40U) << language;
    EXPECT_TRUE(words.abbreviations.contains("dr")) << language;
    for (const std::string_view word : words.abbreviations) {
      EXPECT_FALSE(word.empty() || word.ends_with('.')) << language << word;
    }
  }
  EXPECT_NE(test::message_of([] { sentence_words("latin"); }).find("--lang latin: sentences are"),
            std::string::npos);
}

}  // namespace
}  // namespace mpitron::data
