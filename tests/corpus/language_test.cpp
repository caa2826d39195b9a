#include "corpus/language.h"

#include <gtest/gtest.h>

namespace mpitron::corpus {
namespace language_test {

TEST(LanguageTest, TellsSentencesApart) {
  const std::vector<std::pair<std::string_view, std::string_view>> samples = {
      {"en",
       "The cat sat on the mat, and it was not at all pleased when they came back from town."},
      {"de", "Die Katze saß auf der Matte und war gar nicht erfreut, als sie aus der Stadt kamen."},
      {"fr",
       "Le chat était sur le tapis et il n'était pas content quand ils sont revenus de la ville."},
      {"es",
       "El gato estaba en la alfombra y no le gustó nada cuando los vio volver de la ciudad."},
      {"it",
       "Il gatto era sul tappeto e non era contento quando sono tornati dalla città con gli "
       "altri."},
      {"pt",
       "O gato estava no tapete e não ficou nada contente quando eles voltaram da cidade com os "
       "outros."},
      {"nl",
       "De kat zat op de mat en was niet blij toen ze uit de stad kwamen met een hond die ook "
       "kwam."},
      {"pl",
       "Kot był na macie i nie był zadowolony, kiedy przyszli do niego z miasta, ale już go nie "
       "ma."},
      {"ru", "Кошка сидела на коврике и была недовольна."},
      {"el", "Η γάτα κάθισε στο χαλί."},
      {"zh", "猫坐在垫子上,一点也不高兴。"},
      {"ja", "猫はマットの上に座っていて、まったく喜んでいませんでした。"},
      {"ko", "고양이가 매트 위에 앉았다."},
      {"ar", "جلست القطة على الحصيرة."},
  };
  for (const auto& [code, text] : samples) {
    EXPECT_EQ(guess_language(text).code, code) << text;
  }
}

TEST(LanguageTest, AListHasNoLanguage) {
  EXPECT_EQ(guess_language("").code, "");
  EXPECT_EQ(guess_language("1234 !!! 5678").code, "");
  EXPECT_EQ(guess_language("foo_bar baz(qux) std vector int main return printf").code, "");
  EXPECT_EQ(guess_language("\xFF\xFE\x80").code, "");
}

TEST(LanguageTest, EveryCodeIsKnownOnce) {
  const auto codes = known_languages();
  for (const std::string& code : codes) {
    EXPECT_EQ(code.size(), 2U);
    EXPECT_EQ(std::count(codes.begin(), codes.end(), code), 1) << code;
  }
}

TEST(LanguageTest, TheShareIsOfTheWordsInLatin) {
  EXPECT_EQ(guess_language("the").code, "en");
  EXPECT_DOUBLE_EQ(guess_language("the").share, 1.0);
  EXPECT_DOUBLE_EQ(guess_language("THE cat, 12 cats; The dog").share, 0.4);  // digits are no words
  EXPECT_EQ(guess_language("FÜR").code, "de");
  EXPECT_EQ(guess_language("été").code, "fr");
}

TEST(LanguageTest, EightOfAHundredWordsAreEnough) {
  const auto text = [](int common, int others) {
    std::string words;
    for (int i = 0; i < common + others; ++i) {
      words += i < common ? "they " : "xqz ";
    }
    return words;
  };
  EXPECT_EQ(guess_language(text(2, 23)).code, "en");  // 0.08
  const LanguageGuess few = guess_language(text(1, 12));
  EXPECT_EQ(few.code, "");
  EXPECT_DOUBLE_EQ(few.share, 1.0 / 13);
  EXPECT_DOUBLE_EQ(guess_language(text(4000, 9000)).share, 1.0);  // the rest is not looked at
  EXPECT_DOUBLE_EQ(guess_language(text(3999, 9000)).share, 0.99975);
}

TEST(LanguageTest, TheShareIsOfTheLettersInOtherScripts) {
  EXPECT_EQ(guess_language("привет abc").code, "ru");
  EXPECT_DOUBLE_EQ(guess_language("привет abc").share, 6.0 / 9);
  EXPECT_EQ(guess_language("они they").code, "en");  // more Latin letters
  EXPECT_EQ(guess_language("שלום").code, "he");
  EXPECT_EQ(guess_language("日本国憲法改正の").code, "ja");        // one kana for seven Han
  EXPECT_EQ(guess_language("一二三四五六七八九十の").code, "zh");  // one for ten is too few
  EXPECT_DOUBLE_EQ(guess_language("日本の").share, 1.0);           // both scripts are Japanese
}

TEST(LanguageTest, WhatIsNoLetterSaysNothing) {
  for (const std::string_view text : {" ", "×÷", "😀 – €", "\xF0\x9F", "\xC3"}) {
    EXPECT_EQ(guess_language(text).code, "") << text;
    EXPECT_DOUBLE_EQ(guess_language(text).share, 0.0) << text;
  }
  EXPECT_DOUBLE_EQ(guess_language(std::string_view("the\0the", 7)).share, 1.0);  // NUL ends a word
  EXPECT_DOUBLE_EQ(guess_language("the\xFFthe").share, 1.0);
}

}  // namespace language_test
}  // namespace mpitron::corpus
