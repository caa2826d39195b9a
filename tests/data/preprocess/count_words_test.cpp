#include "data/preprocess/count_words.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace count_words_test {

TEST(CountWords, FilesOnAnyNumberOfThreads) {
  const test::TemporaryFolder folder;
  std::ofstream text(folder / "a.txt");
  std::ofstream json(folder / "b.jsonl");
  for (int i = 0; i < 60000; ++i) {
    text << "word" << i % 999 << (i % 5 == 0 ? ".\n\n" : " ");
    json << "{\"body\": [\"word" << i % 77 << "\", \"x\"]}\n";
  }
  text.close();
  json.close();
  const auto one = count_words({folder / "a.txt", folder / "b.jsonl"}, "body", 1).sorted();
  EXPECT_EQ(one, count_words({folder / "a.txt", folder / "b.jsonl"}, "body", 3).sorted());
  Index xs = 0;
  for (const auto& [word, count] : one) {
    xs += word == "x" ? count : 0;
  }
  EXPECT_EQ(xs, 60000);
  EXPECT_NE(
      test::message_of([&] { count_words({folder / "b.jsonl"}, "text", 1); }).find("b.jsonl:1:"),
      std::string::npos);
}

}  // namespace count_words_test
}  // namespace mpitron::data
