#include <gtest/gtest.h>

#include "train/layout_cases.h"

// Low-rank updates train alike in every layout, with dropout on.

namespace mpitron::train {
namespace low_rank_layout_test {

Flags model() {
  return {"--num-layers",
          "4",
          "--hidden-dropout",
          "0.1",
          "--attention-dropout",
          "0.1",
          "--optimizer",
          "sgd",
          "--lr",
          "0.5",
          "--micro-batch-size",
          "1",
          "--lora-rank",
          "3",
          "--lora-alpha",
          "6"};
}
const Flags kLlama = {"--disable-bias-linear",
                      "--swiglu",
                      "--normalization",
                      "RMSNorm",
                      "--position-embedding-type",
                      "rope",
                      "--untie-embeddings-and-output-weights",
                      "--group-query-attention",
                      "--num-query-groups",
                      "2",
                      "--ffn-hidden-size",
                      "24"};
const Flags kDropout = {"--lora-dropout",     "0.25",    "--recompute-granularity", "full",
                        "--recompute-method", "uniform", "--recompute-num-layers",  "1"};
const Flags kExperts = {"--disable-bias-linear",
                        "--ffn-hidden-size",
                        "32",
                        "--num-experts",
                        "4",
                        "--moe-ffn-hidden-size",
                        "24",
                        "--swiglu",
                        "--moe-shared-expert-intermediate-size",
                        "16"};

const Flags kLatent = {"--multi-latent-attention",
                       "--position-embedding-type",
                       "rope",
                       "--q-lora-rank",
                       "6",
                       "--kv-lora-rank",
                       "5",
                       "--qk-head-dim",
                       "3",
                       "--qk-pos-emb-head-dim",
                       "2",
                       "--v-head-dim",
                       "7",
                       "--qk-layernorm",
                       "--normalization",
                       "RMSNorm",
                       "--disable-bias-linear",
                       "--lora-dropout",
                       "0.25",
                       "--recompute-granularity",
                       "selective",
                       "--recompute-modules",
                       "mla_up_proj"};

class LowRankLayout : public ::testing::TestWithParam<Layout> {};

TEST_P(LowRankLayout, TrainsAsOneRankDoes) {
  for (const Flags& kind : {Flags{}, kLlama + kDropout, kLatent}) {
    const LayoutOutcome alone = run_layout(model() + kind, 1);
    expect_equal(run_layout(model() + kind + GetParam().flags, GetParam().ranks), alone);
    EXPECT_NE(alone.losses.front(), alone.losses.back());
  }
}

class LowRankExperts : public LowRankLayout {};

TEST_P(LowRankExperts, TrainAsOneRankDoes) {
  expect_equal(run_layout(model() + kExperts + GetParam().flags, GetParam().ranks),
               run_layout(model() + kExperts, 1));
}

TEST(LowRank, NothingElseChanges) {
  const LayoutOutcome trained = run_layout(model(), 1);
  Flags still = model();
  still.insert(still.end(), {"--lr", "0", "--min-lr", "0"});
  const LayoutOutcome kept = run_layout(still, 1);
  Index moved = 0;
  for (const auto& [name, weights] : trained.weights) {
    const bool same = weights == kept.weights.at(name);
    moved += same ? 0 : 1;
    EXPECT_TRUE(same || name.find(".lora_") != std::string::npos) << name;
  }
  EXPECT_GT(moved, 4 * 4);
}

std::string name_of(const ::testing::TestParamInfo<Layout>& info) {
  return info.param.name;
}

const Flags kTensor = {"--tensor-model-parallel-size", "2"};

INSTANTIATE_TEST_SUITE_P(
    All, LowRankLayout,
    ::testing::Values(
        Layout{"tp2", 2, kTensor}, Layout{"sp", 2, kTensor + Flags{"--sequence-parallel"}},
        Layout{"pp2", 2, {"--pipeline-model-parallel-size", "2"}}, Layout{"dp2", 2, {}},
        Layout{"cp2", 2, {"--context-parallel-size", "2"}},
        Layout{"zero_bubble",
               2,
               {"--pipeline-model-parallel-size", "2", "--pipeline-schedule", "zero-bubble"}},
        Layout{"sharded", 2, {"--use-distributed-optimizer"}}),
    name_of);
/// `pieces`: ranks that share each expert.
Flags experts(const char* ranks, const char* pieces) {
  return {"--expert-model-parallel-size", ranks, "--expert-tensor-parallel-size", pieces};
}
INSTANTIATE_TEST_SUITE_P(
    All, LowRankExperts,
    ::testing::Values(
        Layout{"ep2", 2, experts("2", "1")},
        Layout{"tp2", 2, kTensor + Flags{"--sequence-parallel"} + experts("1", "1")},
        Layout{"etp2", 2, experts("1", "2") + Flags{"--use-distributed-optimizer"}},
        Layout{"tp2_ep2_etp2_alltoall", 4,
               kTensor + Flags{"--sequence-parallel", "--moe-token-dispatcher-type", "alltoall"} +
                   experts("2", "2")}),
    name_of);

}  // namespace low_rank_layout_test
}  // namespace mpitron::train
