#include "io/hdf5/flat_boxes.h"

#include <gtest/gtest.h>

namespace mpitron::io {
namespace flat_boxes_test {

TEST(FlatBoxes, WholeArraysAreOneBox) {
  EXPECT_EQ(flat_boxes({}, 0, 1), (std::vector<Box>{{{}, {}}}));
  EXPECT_EQ(flat_boxes({5}, 0, 5), (std::vector<Box>{{{0}, {5}}}));
  EXPECT_EQ(flat_boxes({2, 3, 4}, 0, 24), (std::vector<Box>{{{0, 0, 0}, {2, 3, 4}}}));
  EXPECT_EQ(flat_boxes({2, 3}, 4, 4), std::vector<Box>());
  EXPECT_EQ(flat_boxes({0, 3}, 0, 0), std::vector<Box>());
}

TEST(FlatBoxes, RestOfARowWholeRowsBeginOfARow) {
  EXPECT_EQ(flat_boxes({4, 5}, 3, 17),
            (std::vector<Box>{{{0, 3}, {1, 2}}, {{1, 0}, {2, 5}}, {{3, 0}, {1, 2}}}));
  EXPECT_EQ(flat_boxes({4, 5}, 6, 8), (std::vector<Box>{{{1, 1}, {1, 2}}}));
  EXPECT_EQ(flat_boxes({4, 5}, 5, 15), (std::vector<Box>{{{1, 0}, {2, 5}}}));
}

// Every range of several shapes: each element once, in order, in few boxes.
TEST(FlatBoxes, AnyRangeIsCoveredOnceInOrder) {
  for (const Shape& shape :
       {Shape{7}, Shape{3, 4}, Shape{1, 5}, Shape{2, 3, 4}, Shape{3, 1, 2, 3}}) {
    for (Index begin = 0; begin <= shape.numel(); ++begin) {
      for (Index end = begin; end <= shape.numel(); ++end) {
        const std::vector<Box> boxes = flat_boxes(shape, begin, end);
        EXPECT_LE(static_cast<int>(boxes.size()), 2 * shape.rank() - 1);
        Index next = begin;
        for (const Box& box : boxes) {
          for (Index i = 0; i < box.count.numel(); ++i, ++next) {
            Index element = 0, rest = i;
            for (int dim = 0; dim < shape.rank(); ++dim) {
              Index below = 1;
              for (int d = dim + 1; d < shape.rank(); ++d) {
                below *= box.count[d];
              }
              element = element * shape[dim] + box.start[dim] + rest / below;
              rest %= below;
            }
            ASSERT_EQ(element, next) << to_string(shape) << ' ' << begin << ' ' << end;
          }
        }
        ASSERT_EQ(next, end);
      }
    }
  }
}

}  // namespace flat_boxes_test
}  // namespace mpitron::io
