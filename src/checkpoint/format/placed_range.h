#pragma once
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::checkpoint {

/// A stretch [begin, end) of bytes of a data set, row-major, and where it lies in the file of who
/// writes it.
struct PlacedRange {
  Index data_set = 0;
  Index begin = 0, end = 0;
  Index offset = 0;

  Index bytes() const { return end - begin; }
  bool operator==(const PlacedRange&) const = default;
};

/// Returns the place of a byte that one of the ranges holds; they are ordered by data set and
/// begin.
Index place_of(const std::vector<PlacedRange>& ranges, Index data_set, Index byte);

}  // namespace mpitron::checkpoint
