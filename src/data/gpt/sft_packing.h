#pragma once
#include <span>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Rows of sequences that share them.
struct PackedRows {
  std::vector<Index> sequences;  // row after row, in each in their order
  std::vector<Index> begins;     // [rows + 1] places in `sequences`

  Index size() const { return static_cast<Index>(begins.size()) - 1; }
  std::span<const Index> row(Index i) const {
    const auto at = [&](Index j) {
      return static_cast<std::size_t>(begins[static_cast<std::size_t>(j)]);
    };
    return std::span(sequences).subspan(at(i), at(i + 1) - at(i));
  }
};

/// Sequences that are packed together: more would fill rows a little better, and move neighbours of
/// a file far apart.
inline constexpr Index kPackingWindow = 1000;

/// Packs by first fit: each sequence goes, in order, to the first row with room for it. Rows are
/// closed after every `window` sequences, so that neighbours of the file stay near each other. No
/// length is above `row_length`.
PackedRows pack_first_fit(std::span<const Index> lengths, Index row_length,
                          Index window = kPackingWindow);

/// Packs every `window` sequences by length: a row takes the longest one that is left, then again
/// and again the longest that fits, until none does. No length is above `row_length`.
PackedRows pack_longest_first(std::span<const Index> lengths, Index row_length, Index window);

}  // namespace mpitron::data
