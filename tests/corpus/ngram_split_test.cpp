#include <gtest/gtest.h>

#include "corpus/ngram_filter.h"
#include "corpus/sample_texts.h"
#include "corpus/small_task.h"

namespace mpitron::corpus {
namespace ngram_split_test {

TEST(NgramSplit, CutsTheLeakWithItsSurroundings) {
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

TEST(NgramSplit, TooManyHitsDropTheDocument) {
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

}  // namespace ngram_split_test

}  // namespace mpitron::corpus
