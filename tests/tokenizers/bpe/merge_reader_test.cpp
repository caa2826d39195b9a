#include "tokenizers/bpe/merge_reader.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "support/temporary_folder.h"

namespace mpitron::tokenizers {
namespace merge_reader_test {

const TokenIdsByText kIds = {{"h", 0}, {"e", 1}, {"he", 2}, {"i", 3}, {"n", 4}, {"in", 5}};

std::vector<BpeModel::Merge> merges_of(const std::string& text) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "merges.txt", vocabulary = folder / "vocab.json";
  std::ofstream(file) << text;
  return MergeReader(file, vocabulary, kIds).read();
}

void expect_error(const std::string& text, const std::string& part) {
  const std::string message = test::message_of([&] { merges_of(text); });
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(MergeReader, ReadsPairsAndWhatTheyBecome) {
  const auto merges = merges_of("#version: 0.2\nh e\r\n\ni n");
  ASSERT_EQ(merges.size(), 2u);
  EXPECT_EQ(merges[0].left, 0);
  EXPECT_EQ(merges[0].right, 1);
  EXPECT_EQ(merges[0].result, 2);
  EXPECT_EQ(merges[1].result, 5);
}

TEST(MergeReader, RefusesMergesOfAnotherVocabulary) {
  expect_error("#version: 0.2\nh e\nq z\n", "merges.txt:3: token \"q\" is not in");
}

TEST(MergeReader, RefusesMalformedLines) {
  expect_error("h e\nhe\n", "merges.txt:2: two tokens with one space");
  expect_error("h e\ni n\nh e\n", "merges.txt:3: the merge \"h e\" appears twice");
  expect_error("#version: 0.2\n", "holds no merge");
}

}  // namespace merge_reader_test
}  // namespace mpitron::tokenizers
