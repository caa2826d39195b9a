#include "utils/numbers/shape.h"

#include <gtest/gtest.h>

namespace mpitron {
namespace shape_test {

TEST(Shape, CountsFromBothEnds) {
  const Shape shape{2, 3, 5};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 5);
  EXPECT_EQ(shape[-3], 2);
  EXPECT_EQ(shape.numel(), 30);
}

TEST(Shape, RankZeroHoldsOneElementAndAZeroExtentNone) {
  EXPECT_EQ(Shape{}.numel(), 1);
  EXPECT_EQ((Shape{4, 0, 7}).numel(), 0);
}

TEST(Shape, NumelDoesNotOverflowInThirtyTwoBits) {
  EXPECT_EQ((Shape{1 << 20, 1 << 20}).numel(), Index{1} << 40);
}

TEST(Shape, ComparesRankAndExtents) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2, 1}), (Shape{2}));
  Shape grown{2};
  grown.push_back(3);
  EXPECT_EQ(grown, (Shape{2, 3}));
  grown[-1] = 4;
  EXPECT_EQ(grown, (Shape{2, 4}));
}

TEST(Shape, PrintsAsAList) {
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Shape{7}), "[7]");
  EXPECT_EQ(to_string(Shape{7, 0, 2}), "[7, 0, 2]");
}

TEST(Shape, HasAtMostSixDimensions) {
  Shape shape{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(shape.numel(), 720);
  EXPECT_THROW(shape.push_back(7), InternalError);
  EXPECT_THROW((Shape{1, 2, 3, 4, 5, 6, 7}), InternalError);
}

}  // namespace shape_test
}  // namespace mpitron
