#include "corpus/ngram_filter.h"

#include <gtest/gtest.h>

#include "corpus/sample_texts.h"
#include "corpus/small_task.h"
#include "support/corpus.h"

namespace mpitron::corpus {
namespace ngram_filter_test {

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
