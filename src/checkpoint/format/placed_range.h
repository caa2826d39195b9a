#pragma once
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::checkpoint {

/// Bytes [begin, end) of a data set, row-major, and where they lie in the file of who writes them.
struct PlacedRange {
  Index data_set = 0;
  Index begin = 0, end = 0;
  Index offset = 0;

  Index bytes() const { return end - begin; }
  bool operator==(const PlacedRange&) const = default;
};

/// The place of a byte that one of the ranges holds; they are ordered by data set and begin.
Index place_of(const std::vector<PlacedRange>& ranges, Index data_set, Index byte);

}  // namespace mpitron::checkpoint
