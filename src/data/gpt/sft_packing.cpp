#include "data/gpt/sft_packing.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "utils/check.h"

// Packs the conversations of one window at a time: by first fit in the order of the file, or the
// longest first.

namespace mpitron::data {
namespace {

/// A row that is still open.
struct Row {
  Index room = 0;
  std::vector<Index> sequences = {};
};

}  // namespace

PackedRows pack_first_fit(std::span<const Index> lengths, Index row_length, Index window) {
  PackedRows packed{.sequences = {}, .begins = {0}};
  std::vector<Row> open;
  const auto close = [&] {
    for (const Row& row : open) {
      packed.sequences.insert(packed.sequences.end(), row.sequences.begin(), row.sequences.end());
      packed.begins.push_back(static_cast<Index>(packed.sequences.size()));
    }
    open.clear();
  };
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const Index length = lengths[i];
    MPITRON_CHECK(length <= row_length, length, row_length);
    if (i > 0 && static_cast<Index>(i) % window == 0) {
      close();
    }
    auto place = std::ranges::find_if(open, [&](const Row& row) { return row.room >= length; });
    if (place == open.end()) {
      place = open.insert(open.end(), Row{row_length});
    }
    place->room -= length;
    place->sequences.push_back(static_cast<Index>(i));
  }
  close();
  return packed;
}

PackedRows pack_longest_first(std::span<const Index> lengths, Index row_length, Index window) {
  PackedRows rows{.sequences = {}, .begins = {0}};
  const auto count = static_cast<Index>(lengths.size());
  for (Index begin = 0; begin < count; begin += window) {
    // By length, of equal ones the first one last: the end of a range is taken.
    std::multimap<Index, Index> left;
    for (Index i = std::min(begin + window, count); i-- > begin;) {
      left.emplace(lengths[static_cast<std::size_t>(i)], i);
    }
    while (!left.empty()) {
      Index room = row_length;
      for (auto fits = left.upper_bound(room); fits != left.begin();
           fits = left.upper_bound(room)) {
        const auto longest = std::prev(fits);
        room -= longest->first;
        rows.sequences.push_back(longest->second);
        left.erase(longest);
      }
      rows.begins.push_back(static_cast<Index>(rows.sequences.size()));
    }
  }
  return rows;
}

}  // namespace mpitron::data
