#include <gtest/gtest.h>

#include "data/labelled/labelled_texts.h"
#include "support/corpus.h"

namespace mpitron::data {
namespace race_articles_test {

TEST(RaceArticles, SaysWhereAnArticleIsWrong) {
  const test::TemporaryFolder place;
  const std::string folder = place / "RACE";
  std::filesystem::create_directory(folder);
  const auto problem = [&](const std::string& line) {
    test::write_bytes(folder + "/a.txt", "\n" + line + "\n");
    return test::message_of([&] { read_race(folder); });
  };
  EXPECT_NE(problem(R"({"article": "x", "questions": ["q"], "options": [["a"]], "answers": ["A"]})")
                .find("a.txt:2: question 1 has 1 options"),
            std::string::npos);
  EXPECT_NE(problem(R"({"article": "x"})").find("a.txt:2: "), std::string::npos);
  EXPECT_EQ(problem(R"({"article": "x", "questions": ["q _ _?"], "answers": ["D"], )"
                    R"("options": [["a", "b", "c", "_"]]})"),
            "");
}

TEST(RaceArticles, JoinsBlanksAndFullStops) {
  EXPECT_EQ(clean_text("a .  b\n\nc . "), "a. b c. ");
  EXPECT_EQ(clean_text(" . . . . x"), ". ... x");
}

TEST(RaceArticles, AnswersStandInTheBlanks) {
  const test::TemporaryFolder place;
  test::write_bytes(place / "a.txt",
                    R"({"article": "x", "questions": ["q _?", "why?"], "answers": ["D", "A"], )"
                    R"("options": [["a", "b", "c", "d"], ["a", "b", "c", "d"]]})");
  const std::vector<LabelledText> texts = read_race(place.path());
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0].label, 3);
  EXPECT_EQ(texts[0].pairs[1].first, "q b?");
  EXPECT_EQ(texts[1].pairs[0].first, "why? a");
  EXPECT_EQ(texts[1].pairs[0].second, "x");
}

}  // namespace race_articles_test
}  // namespace mpitron::data
