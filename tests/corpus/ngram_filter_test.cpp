#include "corpus/ngram_filter.h"

#include <gtest/gtest.h>

#include "corpus/sample_texts.h"
#include "support/corpus.h"

namespace mpitron::corpus {
namespace ngram_filter_test {

using Pieces = std::vector<std::string_view>;

const std::string kTask =
    "A quick brown fox jumps over one lazy dog while seven wise owls watch from above";
// The same words in another spelling.
const std::string kLeak =
    "a QUICK, brown fox: jumps over one lazy dog while seven wise owls (watch) from above";

TEST(NgramFilterTest, CutsTheLeakWithItsSurroundings) {
  NgramFilter filter({});
  filter.add_task(kTask);
  const std::string before = sample_text(1, 200);
  const std::string after = sample_text(2, 200);
  const std::string text = before + kLeak + " " + after;
  const auto pieces = filter.split(text);
  ASSERT_TRUE(pieces);
  ASSERT_EQ(pieces->size(), 2U);
  EXPECT_TRUE(before.starts_with((*pieces)[0]));
  EXPECT_EQ((*pieces)[0].back(), '.');
  EXPECT_LE((*pieces)[0].size() + 199, before.size());
  EXPECT_GT((*pieces)[0].size() + 600, before.size());
  EXPECT_TRUE(after.ends_with((*pieces)[1]));
  EXPECT_LE((*pieces)[1].size() + 199, after.size());
  EXPECT_EQ(*filter.split(before), Pieces{before});
}

TEST(NgramFilterTest, TwelveWordsInCommonAreNoHit) {
  NgramFilter filter({});
  filter.add_task(kTask);
  EXPECT_EQ(filter.find("quick brown fox jumps over one lazy dog while seven wise owls").size(),
            0U);
  EXPECT_EQ(
      filter.find("quick brown fox jumps over one lazy dog while seven wise owls watch").size(),
      1U);
  EXPECT_EQ(filter.find(kLeak).size(), 4U);
}

TEST(NgramFilterTest, ShortTasksCountAsAWhole) {
  NgramFilter filter({});
  filter.add_task("seven words are too few for this");
  EXPECT_TRUE(filter.empty());
  filter.add_task("but eight words are enough for a hit");
  EXPECT_EQ(filter.find("so: but eight words are enough for a hit!").size(), 1U);
}

TEST(NgramFilterTest, IdiomsAreNoLeaks) {
  NgramFilter filter({.most_documents = 2});
  filter.add_task(kTask);
  for (int i = 0; i < 3; ++i) {
    filter.count(
        filter.find("quick brown fox jumps over one lazy dog while seven wise owls watch"));
  }
  filter.drop_idioms();
  EXPECT_EQ(filter.find(kLeak).size(), 3U);
}

TEST(NgramFilterTest, TooManyHitsDropTheDocument) {
  NgramFilter filter({.most_splits = 3});
  filter.add_task(kTask);
  std::string text = sample_text(1, 200);
  for (int i = 0; i < 3; ++i) {
    text += kLeak + ". " + sample_text(2, 200);
  }
  ASSERT_TRUE(filter.split(text));
  EXPECT_EQ(filter.split(text)->size(), 4U);
  text += kLeak + ". " + sample_text(2, 200);
  EXPECT_FALSE(filter.split(text));
  EXPECT_EQ(filter.split(kLeak)->size(), 0U);  // nothing is left
}

// No piece of any text still holds a hit.
TEST(NgramFilterTest, MutationsLeaveNoHit) {
  NgramFilter filter({.margin = 5, .least_characters = 10, .most_splits = 100});
  filter.add_task(kTask);
  const std::string text = sample_text(1, 30) + kLeak + " ä. " + kTask + sample_text(2, 30) + kLeak;
  test::for_each_mutation(text, 1000, [&](const std::string& bytes) {
    const auto pieces = filter.split(bytes);
    ASSERT_TRUE(pieces);
    for (const std::string_view piece : *pieces) {
      EXPECT_TRUE(filter.find(piece).empty());
    }
  });
}

}  // namespace ngram_filter_test
}  // namespace mpitron::corpus
