#pragma once
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::io {

/// A box of an array's elements: from `start`, `count` in each dimension.
struct Box {
  Shape start, count;
  bool operator==(const Box&) const = default;
};

/// Elements [begin, end) of an array in row-major order as boxes, in that order: at most
/// 2 * rank - 1 of them, one where there is no dimension.
std::vector<Box> flat_boxes(const Shape& shape, Index begin, Index end);

}  // namespace mpitron::io
