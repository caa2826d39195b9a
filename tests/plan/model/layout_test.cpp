#include "plan/model/layout.h"

#include <numeric>

#include <gtest/gtest.h>

#include "pipeline/stage_layout.h"
#include "plan/planned_run.h"

namespace mpitron::plan {
namespace layout_test {

TEST(Layout, DataRanksAreWhatIsLeft) {
  const Layout layout{.gpus = 64, .tensor = 4, .context = 2, .pipeline = 2, .expert_tensor = 4};
  EXPECT_EQ(layout.data(), 4);
  const config::RunConfig run =
      test::planned_run({.layers = 8, .hidden = 64, .heads = 8}, 64, 32, layout);
  EXPECT_EQ(to_text(run), "tp 4 cp 2 pp 2 vp 1 ep 1 mbs 1 dp 4 optim recompute none");
  EXPECT_EQ(layout_of(run), layout);
  EXPECT_EQ(make_job(run).microbatches(), 8);
}

TEST(Layout, StagesAreAsEvenAsTheyCanBe) {
  for (Index layers = 1; layers < 70; ++layers) {
    for (Index stages = 1; stages <= layers; ++stages) {
      config::RunConfig run = test::planned_run({.layers = layers, .hidden = 64, .heads = 8}, 64,
                                                64, {.gpus = stages, .pipeline = stages});
      const pipeline::StageLayout split =
          pipeline::make_stage_layout(run.parallel, run.model.num_layers);
      Index least = layers, most = 0, sum = 0;
      for (Index stage = 0; stage < stages; ++stage) {
        const Index count = split.layers(stage, 0).count;
        least = std::min(least, count);
        most = std::max(most, count);
        sum += count;
      }
      EXPECT_EQ(sum, layers);
      EXPECT_LE(most - least, 1) << layers << " layers, " << stages << " stages";
    }
  }
}

TEST(Layout, RecomputationIsToldInWords) {
  config::RecomputeConfig recompute;
  EXPECT_EQ(to_text(recompute), "none");
  recompute.recompute_granularity = config::RecomputeGranularity::selective;
  recompute.recompute_modules = {config::RecomputeModule::moe_act,
                                 config::RecomputeModule::layernorm};
  EXPECT_EQ(to_text(recompute), "moe_act+layernorm");
  recompute.recompute_granularity = config::RecomputeGranularity::full;
  recompute.recompute_method = config::RecomputeMethod::block;
  recompute.recompute_num_layers = 3;
  EXPECT_EQ(to_text(recompute), "full 3");
}

}  // namespace layout_test
}  // namespace mpitron::plan
