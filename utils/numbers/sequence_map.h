#pragma once
#include <algorithm>

#include "utils/check.h"
#include "utils/numbers/shape.h"

namespace mpitron {

/// Where the positions of a local sequence stand in the whole one, in rising order: those before
/// `split` lie `offset[0]` further on, the others `offset[1]`.
struct SequenceMap {
  Index split = 0;
  Index offset[2] = {0, 0};

  constexpr Index operator()(Index local) const { return local + offset[local < split ? 0 : 1]; }
  /// The map of the piece that begins at local position `first` here.
  constexpr SequenceMap from(Index first) const {
    return {.split = std::max<Index>(0, split - first),
            .offset = {offset[0] + first, offset[1] + first}};
  }

  /// Whether local positions are those of the whole.
  constexpr bool whole() const { return offset[0] == 0 && offset[1] == 0; }

  /// How many positions of an endless local sequence stand before `position` of the whole one.
  constexpr Index count_before(Index position) const {
    const Index first = std::clamp<Index>(position - offset[0], 0, split);
    return first < split ? first : std::max(split, position - offset[1]);
  }
};

/// Some positions of a sequence.
struct SequenceSlice {
  SequenceMap map;
  Index length = 0;
};

/// What member `rank` of a context-parallel group holds of a sequence: chunks `rank` and
/// 2 ranks - 1 - rank of 2 ranks equal ones, so that all have the same work under a causal mask.
/// The length is a multiple of 2 ranks, or of nothing where the group has one member. Source:
/// Megatron-Core, get_batch_on_this_cp_rank.
inline SequenceSlice zigzag_slice(Index length, Index ranks, Index rank) {
  MPITRON_CHECK(rank >= 0 && rank < ranks, rank, ranks);
  if (ranks == 1) {
    return {.map = {}, .length = length};
  }
  MPITRON_CHECK(length % (2 * ranks) == 0, length, ranks);
  const Index chunk = length / (2 * ranks);
  return {.map = {.split = chunk, .offset = {rank * chunk, (2 * ranks - 2 - rank) * chunk}},
          .length = 2 * chunk};
}

}  // namespace mpitron
