#include "checkpoint/format/placed_range.h"

#include <algorithm>
#include <utility>

#include "utils/check.h"

// Looks up where a byte of a data set lies, among ranges in order.

namespace mpitron::checkpoint {

Index place_of(const std::vector<PlacedRange>& ranges, Index data_set, Index byte) {
  const auto behind =
      std::partition_point(ranges.begin(), ranges.end(), [&](const PlacedRange& range) {
        return std::pair(range.data_set, range.begin) <= std::pair(data_set, byte);
      });
  MPITRON_CHECK(behind != ranges.begin(), data_set, byte);
  const PlacedRange& range = *std::prev(behind);
  MPITRON_CHECK(range.data_set == data_set && byte < range.end, data_set, byte);
  return range.offset + (byte - range.begin);
}

}  // namespace mpitron::checkpoint
