#include "train/model/rank_layout.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::train {
namespace rank_layout_test {

using comm::AxisSet;
using Ranks = std::vector<Index>;

TEST(RankLayout, OrdersAxesAsTheOptionsSay) {
  config::ParallelConfig parallel;
  parallel.tensor_model_parallel_size = 2;
  parallel.pipeline_model_parallel_size = 2;
  EXPECT_EQ(make_rank_grid(parallel, 8).dense().group_of(0, AxisSet::parse("pp")), (Ranks{0, 4}));
  EXPECT_EQ(make_rank_grid(parallel, 8).dense().group_of(0, AxisSet::parse("dp")), (Ranks{0, 2}));
  parallel.use_tp_pp_dp_mapping = true;
  EXPECT_EQ(make_rank_grid(parallel, 8).dense().group_of(0, AxisSet::parse("pp")), (Ranks{0, 2}));
  EXPECT_EQ(make_rank_grid(parallel, 8).dense().group_of(0, AxisSet::parse("dp")), (Ranks{0, 4}));
}

TEST(RankLayout, RefusesSizesThatDoNotDivideTheRanks) {
  config::ParallelConfig parallel;
  parallel.tensor_model_parallel_size = 3;
  EXPECT_THROW(make_rank_grid(parallel, 8), Error);
}

}  // namespace rank_layout_test
}  // namespace mpitron::train
