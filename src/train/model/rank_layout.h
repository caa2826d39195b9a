#pragma once
#include <array>

#include "comm/groups/rank_grid.h"
#include "config/parallel_config.h"

namespace mpitron::train {

/// How `world_size` ranks are divided; Error(usage) where the sizes do not divide them.
comm::RankGrid make_rank_grid(const config::ParallelConfig& parallel, Index world_size);

/// A kind of groups by the axes that its ranks span.
struct NamedAxes {
  const char* name;
  const char* axes;
};
/// The groups of layers without experts.
inline constexpr auto kDenseGroups = std::to_array<NamedAxes>({{"tensor", "tp"},
                                                               {"context", "cp"},
                                                               {"data", "dp"},
                                                               {"data x context", "dp-cp"},
                                                               {"pipeline", "pp"},
                                                               {"tensor x pipeline", "tp-pp"}});

}  // namespace mpitron::train
