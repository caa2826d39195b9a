#include "checkpoint/rank_share.h"

namespace mpitron::checkpoint {

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
