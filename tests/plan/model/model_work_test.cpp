#include "plan/model/model_work.h"

#include <gtest/gtest.h>

#include "plan/planned_run.h"

namespace mpitron::plan {
namespace model_work_test {

config::RunConfig deepseek() {
  config::RunConfig run = test::planned_run({.layers = 61,
                                             .hidden = 7168,
                                             .heads = 128,
                                             .ffn = 18432,
                                             .vocabulary = 129280,
                                             .gated = true,
                                             .tied = false},
                                            4096, 2048);
  run.model.multi_latent_attention = true;
  run.model.q_lora_rank = 1536;
  run.model.kv_lora_rank = 512;
  config::MoeConfig& moe = run.model.moe.emplace();
  moe.num_experts = 256;
  moe.topk = 8;
  moe.ffn_hidden_size = 2048;
  moe.shared_expert_intermediate_size = 2048;
  moe.layers.assign(61, true);
  std::fill_n(moe.layers.begin(), 3, false);
  return run;
}

TEST(ModelWork, ParametersAreThosePublished) {
  const Job llama = make_job(test::planned_run({.layers = 80,
                                                .hidden = 8192,
                                                .heads = 64,
                                                .ffn = 28672,
                                                .kv_heads = 8,
                                                .vocabulary = 128256,
                                                .gated = true,
                                                .tied = false},
                                               8192, 128));
  EXPECT_NEAR(llama.weights(), 70.55e9, 0.01e9);
  EXPECT_EQ(llama.work->kinds().size(), 1U);
  const Job job = make_job(deepseek());
  EXPECT_NEAR(job.weights(), 671e9, 1e9);
  EXPECT_NEAR(job.active_weights(), 37.5e9, 0.5e9);
  EXPECT_EQ(job.work->kinds().size(), 2U);
}

TEST(ModelWork, WeightsAreThoseOfTheLayersCosts) {
  for (const config::RunConfig& run :
       {deepseek(), test::tiny_run("--swiglu --disable-bias-linear"), test::tiny_run()}) {
    const ModelWork work(run.model);
    double costs = 0;
    for (Index number = 1; number <= run.model.num_layers; ++number) {
      costs += nn::layer_costs(run.model, config::layer_spec(run.model, number)).weights;
    }
    EXPECT_NEAR(work.weights() / costs, 1, 0.01);  // norms are left out
  }
}

TEST(ModelWork, DepthsOfPredictionAreLayersWithAProjection) {
  config::RunConfig run = deepseek();
  const double without = ModelWork(run.model).weights();
  run.model.mtp_num_layers = 1;
  const ModelWork with(run.model);
  EXPECT_EQ(with.depths(), 1);
  EXPECT_NEAR(with.weights() - without, 11.5e9, 0.2e9);
}

}  // namespace model_work_test
}  // namespace mpitron::plan
