// Makes the grid of ranks from the parallel sizes that the options ask for.
#include "train/model/rank_layout.h"

namespace mpitron::train {

comm::RankGrid make_rank_grid(const config::ParallelConfig& parallel, Index world_size) {
  return comm::RankGrid(world_size,
                        {.tensor = parallel.tensor_model_parallel_size,
                         .context = parallel.context_parallel_size,
                         .pipeline = parallel.pipeline_model_parallel_size,
                         .expert = parallel.expert_model_parallel_size,
                         .expert_tensor = parallel.expert_tensor_parallel_size},
                        parallel.use_tp_pp_dp_mapping ? comm::kDataLastOrder : comm::kDefaultOrder);
}

}  // namespace mpitron::train
