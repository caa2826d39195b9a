#include "data/gpt/sft_packing.h"

#include <algorithm>

#include "utils/check.h"

namespace mpitron::data {
namespace {

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

}  // namespace mpitron::data
