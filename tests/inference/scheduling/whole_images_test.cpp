#include "inference/scheduling/whole_images.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace whole_images_test {

/// Two words, an image of three positions, a word, an image of two.
Sequence sequence_from(Index computed) {
  Sequence sequence;
  sequence.tokens = {1, 2, -1, -2, -3, 3, -1, -2};
  sequence.computed = computed;
  return sequence;
}

TEST(WholeImages, StepsEndInFrontOfAnImageOrBehindIt) {
  const Sequence start = sequence_from(0);
  const std::vector<Index> wanted = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<Index> given = {0, 1, 2, 2, 2, 5, 6, 6, 8};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(cut_at_images(start, wanted[i], 100), given[i]) << wanted[i];
  }
}

TEST(WholeImages, AnImageInFrontIsTakenWholeWhereThereIsRoom) {
  EXPECT_EQ(cut_at_images(sequence_from(2), 1, 3), 3);
  EXPECT_EQ(cut_at_images(sequence_from(2), 1, 2), 0);
}

TEST(WholeImages, TheLongestIsFound) {
  EXPECT_EQ(longest_image(sequence_from(0)), 3);
  EXPECT_EQ(longest_image(Sequence{.tokens = {1, 2}}), 0);
}

TEST(WholeImages, PositionsSeenAreCounted) {
  EXPECT_EQ(count_seen(sequence_from(0), 4), 2);
  EXPECT_EQ(count_seen(sequence_from(0), 8), 5);
}

}  // namespace whole_images_test
}  // namespace mpitron::inference
