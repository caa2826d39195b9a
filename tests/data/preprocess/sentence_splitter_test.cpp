#include "data/preprocess/sentence_splitter.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace sentence_splitter_test {

using Sentences = std::vector<std::string>;

Sentences split(const std::string& text, BetweenSentences between = BetweenSentences::dropped,
                const std::string& language = "english") {
  std::vector<std::string_view> views;
  SentenceSplitter(language, between).split(text, views);
  return {views.begin(), views.end()};
}

TEST(SentenceSplitterTest, EndsAtPeriodsAndMarks) {
  EXPECT_EQ(split("One. Two! Three?\n\nFour"), (Sentences{"One.", "Two!", "Three?", "Four"}));
  EXPECT_EQ(split("It costs 3.50 at example.com now. Yes."),
            (Sentences{"It costs 3.50 at example.com now.", "Yes."}));
  EXPECT_EQ(split("  Ends with white space.  \n"), (Sentences{"  Ends with white space."}));
  EXPECT_EQ(split(""), Sentences());
  EXPECT_EQ(split(" \n "), Sentences());
}

TEST(SentenceSplitterTest, AbbreviationsInitialsAndNumbersDoNotEndOne) {
  EXPECT_EQ(
      split("Dr. J. R. Smith of the U.S. Army met Mrs. Jones, e.g. in Fig. 5. He left."),
      (Sentences{"Dr. J. R. Smith of the U.S. Army met Mrs. Jones, e.g. in Fig. 5.", "He left."}));
  EXPECT_EQ(split("Mr. A. Smith came."), Sentences{"Mr. A. Smith came."});
  EXPECT_EQ(split("We went to the U.S. The trip was long."),
            (Sentences{"We went to the U.S.", "The trip was long."}));
  EXPECT_EQ(split("Wait... what? Well... The end."),
            (Sentences{"Wait... what?", "Well...", "The end."}));
  EXPECT_EQ(split("Am 3. mai kam er. Gut.", BetweenSentences::dropped, "german"),
            (Sentences{"Am 3. mai kam er.", "Gut."}));
}

TEST(SentenceSplitterTest, ClosingQuotesBelongToTheSentenceBefore) {
  EXPECT_EQ(split("\"Stop!\" he said. (It was late.) They went."),
            (Sentences{"\"Stop!\"", "he said.", "(It was late.)", "They went."}));
  EXPECT_EQ(split("He said: \"Go.\""), (Sentences{"He said: \"Go.\""}));
  EXPECT_EQ(split("Really?(no)"), (Sentences{"Really?", "(no)"}));
}

TEST(SentenceSplitterTest, WhiteSpaceCanBeKept) {
  EXPECT_EQ(split("One.\n\nTwo. \"Three.\"\nFour. ", BetweenSentences::kept),
            (Sentences{"One.\n\n", "Two. ", "\"Three.\"\n", "Four."}));
}

TEST(SentenceSplitterTest, LongTextIsCutIntoPiecesOfCharacters) {
  const std::string text = "ää. bb. cc.";
  std::vector<std::string_view> views;
  SentenceSplitter("english", BetweenSentences::dropped).split_long(text, 6, views);
  EXPECT_EQ(Sentences(views.begin(), views.end()), (Sentences{"ää.", "bb", ".", "cc."}));
}

// Whatever comes in, sentences follow each other and leave out nothing but white space.
TEST(SentenceSplitterTest, MutationsLoseNothing) {
  const std::string text =
      "\"Well, Mr. B. -- no!\" she said (etc.). Then... U.S.\u3000\u00A0A?! 5. x.y [z.]\n'So.'";
  for (const BetweenSentences between : {BetweenSentences::dropped, BetweenSentences::kept}) {
    const SentenceSplitter splitter("english", between);
    test::for_each_mutation(text, 3000, [&](const std::string& bytes) {
      std::vector<std::string_view> views;
      splitter.split(bytes, views);
      const auto letters = [](std::string_view from) {
        return std::count_if(from.begin(), from.end(),
                             [](unsigned char c) { return c > ' ' && c < 0x7F; });
      };
      std::ptrdiff_t found = 0;
      const char* end = bytes.data();
      for (const std::string_view view : views) {
        ASSERT_GE(view.data(), end);
        end = view.data() + view.size();
        found += letters(view);
      }
      ASSERT_LE(end, bytes.data() + bytes.size());
      ASSERT_EQ(found, letters(bytes));
    });
  }
}

}  // namespace sentence_splitter_test
}  // namespace mpitron::data
