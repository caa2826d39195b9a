#pragma once
#include <functional>
#include <span>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::train {

/// Figures of one rank in an interval between two log lines.
struct RankLoad {
  float busy_seconds = 0;  // per iteration, without waiting for other ranks
  float memory_mib = 0;    // as MemoryUse::allocated
};

/// Distance of the ranks: one that is busy longer than the others keeps them waiting.
struct RankSpread {
  float fastest = 0, median = 0, slowest = 0;  // busy seconds per iteration
  Index slowest_rank = 0;
  float most_memory_mib = 0;
};

/// Values of all ranks, [rank][value] flattened; every rank passes the same number of values.
using Gather = std::function<std::vector<float>(std::span<const float>)>;

/// Collective over the ranks behind `gather`; every rank gets the answer.
RankSpread gather_spread(const RankLoad& own, const Gather& gather);

}  // namespace mpitron::train
