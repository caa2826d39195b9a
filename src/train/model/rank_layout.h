#pragma once
#include "comm/groups/rank_grid.h"
#include "config/parallel_config.h"

namespace mpitron::train {

/// How `world_size` ranks are divided; Error(usage) where the sizes do not divide them.
comm::RankGrid make_rank_grid(const config::ParallelConfig& parallel, Index world_size);

}  // namespace mpitron::train
