#include "data/preprocess/sentence_words.h"

#include <array>

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace sentence_words_test {

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

TEST(SentenceWordsTest, NamesTheLanguagesOnce) {
  const std::vector<std::string> expected = {"english", "german",     "french", "spanish",
                                             "italian", "portuguese", "dutch"};
  EXPECT_EQ(sentence_languages(), expected);
  EXPECT_EQ(&sentence_words("german"), &sentence_words("german"));
  EXPECT_NE(&sentence_words("german"), &sentence_words("dutch"));
}

TEST(SentenceWordsTest, AnUnknownLanguageIsAnErrorWithAllNames) {
  for (const char* const name : {"", "English", "english ", "en", "engli"}) {
    const std::string language = name;
    const std::string message = test::message_of([&] { sentence_words(language); });
    EXPECT_NE(message.find("--lang " + language + ": sentences are split in "), std::string::npos)
        << message;
    EXPECT_NE(message.find("english, german, french, spanish, italian, portuguese, dutch;"),
              std::string::npos)
        << message;
  }
}

TEST(SentenceWordsTest, WordsAreLowerCaseWithoutSpaces) {
  for (const std::string& language : sentence_languages()) {
    const SentenceWords& words = sentence_words(language);
    for (const auto* list : {&words.abbreviations, &words.starters}) {
      for (const std::string_view word : *list) {
        EXPECT_FALSE(word.empty() || word.starts_with('.') || word.ends_with('.')) << word;
        EXPECT_EQ(word.find_first_of(" \t\nABCDEFGHIJKLMNOPQRSTUVWXYZ"), std::string_view::npos)
            << language << ": " << word;
      }
    }
  }
}

TEST(SentenceWordsTest, HasTheWordsOfEachLanguage) {
  const std::vector<std::array<std::string, 3>> samples = {
      {"english", "e.g", "the"},       {"english", "penn", "must"},
      {"german", "z.b", "über"},       {"german", "o.ä", "seit"},
      {"french", "c.-à-d", "où"},      {"spanish", "ee.uu", "también"},
      {"italian", "sig.ra", "perché"}, {"portuguese", "págs", "você"},
      {"dutch", "d.w.z", "het"}};
  for (const auto& [language, abbreviation, starter] : samples) {
    const SentenceWords& words = sentence_words(language);
    EXPECT_TRUE(words.abbreviations.contains(abbreviation)) << abbreviation;
    EXPECT_TRUE(words.starters.contains(starter)) << starter;
    EXPECT_FALSE(words.abbreviations.contains(starter)) << starter;
    EXPECT_FALSE(words.starters.contains(abbreviation)) << abbreviation;
  }
}

}  // namespace sentence_words_test
}  // namespace mpitron::data
