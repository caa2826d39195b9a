#include "checkpoint/plan/rank_share.h"

#include <algorithm>
#include <utility>

// The plan as one rank sees it: what it writes from its own memory, and what it gathers from others
// before.

namespace mpitron::checkpoint {

std::vector<PlacedRange> ranges_of(const RankShare& share, std::span<const DataSet> data_sets) {
  std::vector<PlacedRange> ranges;
  const auto add = [&](Index data_set, Index begin, Index end) {
    const auto size =
        static_cast<Index>(size_of(data_sets[static_cast<std::size_t>(data_set)].dtype));
    if (begin < end) {
      ranges.push_back({.data_set = data_set, .begin = begin * size, .end = end * size});
    }
  };
  for (const RankShare::Write& write : share.writes) {
    add(write.data_set, write.begin, write.begin + (write.part.end - write.part.begin));
  }
  for (const RankShare::Gather& gather : share.gathers) {
    add(gather.data_set, gather.begin, gather.end);
  }
  std::sort(ranges.begin(), ranges.end(), [](const PlacedRange& a, const PlacedRange& b) {
    return std::pair(a.data_set, a.begin) < std::pair(b.data_set, b.begin);
  });
  std::vector<PlacedRange> joined;
  for (const PlacedRange& range : ranges) {
    if (!joined.empty() && joined.back().data_set == range.data_set &&
        joined.back().end == range.begin) {
      joined.back().end = range.end;
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

RankShare share_of(const SavePlan& plan, const Holdings& holdings, Index rank) {
  RankShare share;
  for (const Piece& piece : plan.pieces) {
    if (!piece.gathered()) {
      if (piece.rank == rank) {
        const Source& source = piece.sources.front();
        share.writes.push_back(
            {piece.data_set,
             piece.begin,
             {source.item, source.offset, source.offset + (piece.end - piece.begin)}});
      }
      continue;
    }
    RankShare::Gather gather{piece.data_set, piece.begin, piece.end, piece.rows, {}};
    for (const Source& source : piece.sources) {
      const ShardMap& map = holdings.maps[static_cast<std::size_t>(source.map)];
      const RankShare::Part part{source.item, source.offset,
                                 source.offset + piece.rows * map.width()};
      if (piece.rank == rank) {
        gather.sources.push_back({source.rank, part, map});
      } else if (source.rank == rank) {
        share.sends.push_back({part, piece.rank});
      }
    }
    if (piece.rank == rank) {
      share.gathers.push_back(std::move(gather));
    }
  }
  return share;
}

}  // namespace mpitron::checkpoint
