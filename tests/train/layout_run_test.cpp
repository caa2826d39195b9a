#include "train/layout_run.h"

#include <gtest/gtest.h>

#include "train/tiny_run.h"

// Every layout trains the same model: loss, gradient norm and weights agree with one rank, with
// dropout on.

namespace mpitron::train {
namespace {

using Flags = std::vector<std::string>;

constexpr Index kIterations = 3;

Flags operator+(Flags flags, const Flags& more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

void expect_equal(const LayoutOutcome& layout, const LayoutOutcome& alone) {
  ASSERT_EQ(layout.losses.size(), alone.losses.size());
  for (std::size_t i = 0; i < alone.losses.size(); ++i) {
    EXPECT_NEAR(layout.losses[i], alone.losses[i], 1e-6 * alone.losses[i]) << i;
    EXPECT_NEAR(layout.grad_norms[i], alone.grad_norms[i], 2e-6 * alone.grad_norms[i]) << i;
  }
  ASSERT_EQ(layout.weights.size(), alone.weights.size());
  for (const auto& [name, weights] : alone.weights) {
    EXPECT_LE(relative_distance(layout.weights.at(name), weights), 1e-6) << name;
  }
}

struct Layout {
  const char* name;
  Index ranks;
  Flags flags;
};
void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.name;
}

class LayoutTest : public ::testing::TestWithParam<Layout> {
 protected:
  // SGD: Adam's first steps are the gradients' signs, which rounding alone may flip.
  static Flags model() {
    return {"--num-layers", "4",   "--hidden-dropout",   "0.1", "--attention-dropout", "0.1",
            "--optimizer",  "sgd", "--micro-batch-size", "1"};
  }
};

TEST_P(LayoutTest, TrainsAsOneRankDoes) {
  for (const Flags& kind : {Flags{}, Flags{"--untie-embeddings-and-output-weights"}}) {
    expect_equal(
        run_layout(tiny_run(model() + kind + GetParam().flags, GetParam().ranks), kIterations),
        run_layout(tiny_run(model() + kind), kIterations));
  }
}

Flags tensor(const char* size) {
  return {"--tensor-model-parallel-size", size};
}
Flags pipeline(const char* size) {
  return {"--pipeline-model-parallel-size", size};
}
const Flags kSequence = {"--sequence-parallel"};
const Flags kVirtual = {"--num-virtual-stages-per-pipeline-rank", "2"};
const Flags kSharded = {"--use-distributed-optimizer"};
const Flags kOverlap = {"--overlap-grad-reduce", "--ddp-bucket-size", "500"};

std::string name_of(const ::testing::TestParamInfo<Layout>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Pipeline, LayoutTest,
    ::testing::Values(
        Layout{"pp2", 2, pipeline("2")}, Layout{"pp4", 4, pipeline("4")},
        Layout{"pp2_vpp2", 2, pipeline("2") + kVirtual},
        Layout{"pp2_uneven", 2, pipeline("2") + Flags{"--decoder-first-pipeline-num-layers", "1"}},
        Layout{"pp2_layout", 2,
               pipeline("2") + Flags{"--pipeline-model-parallel-layout", "E|tt|t|tL"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Data, LayoutTest,
    ::testing::Values(Layout{"dp2", 2, {}}, Layout{"dp8", 8, {}},
                      Layout{"dp4_overlap", 4, kOverlap}, Layout{"dp2_sharded", 2, kSharded},
                      Layout{"dp4_sharded", 4, kSharded},
                      Layout{"dp4_sharded_overlap", 4,
                             kSharded + kOverlap + Flags{"--overlap-param-gather"}},
                      Layout{"dp4_two_instances", 4,
                             kSharded + Flags{"--num-distributed-optimizer-instances", "2"}}),
    name_of);

Flags fully_sharded(const char* strategy) {
  return {"--use-megatron-fsdp", "--data-parallel-sharding-strategy", strategy};
}
const Flags kRecompute = {"--recompute-granularity", "full", "--recompute-method", "uniform",
                          "--recompute-num-layers",  "2"};

INSTANTIATE_TEST_SUITE_P(
    FullySharded, LayoutTest,
    ::testing::Values(Layout{"dp4_optimizer", 4, fully_sharded("optim")},
                      Layout{"dp4_gradients", 4, fully_sharded("optim_grads")},
                      Layout{"dp4_parameters", 4, fully_sharded("optim_grads_params")},
                      Layout{"dp2_parameters_overlap_recompute", 2,
                             fully_sharded("optim_grads_params") + kRecompute +
                                 Flags{"--overlap-grad-reduce", "--overlap-param-gather"}},
                      Layout{"dp4_parameters_gathered_ahead", 4,
                             fully_sharded("optim_grads_params") +
                                 Flags{"--suggested-communication-unit-size", "20000",
                                       "--fsdp-double-buffer"}},
                      Layout{"dp4_parameters_in_two_instances", 4,
                             fully_sharded("optim_grads_params") +
                                 Flags{"--num-distributed-optimizer-instances", "2"}},
                      Layout{"tp2_sp_dp2_parameters", 4,
                             tensor("2") + kSequence + fully_sharded("optim_grads_params")}),
    name_of);

INSTANTIATE_TEST_SUITE_P(Tensor, LayoutTest,
                         ::testing::Values(Layout{"tp2", 2, tensor("2")},
                                           Layout{"tp4", 4, tensor("4")},
                                           Layout{"tp2_sp", 2, tensor("2") + kSequence},
                                           Layout{"tp4_sp", 4, tensor("4") + kSequence}),
                         name_of);

Flags context(const char* size, const char* exchange) {
  return {"--context-parallel-size", size, "--cp-comm-type", exchange};
}

INSTANTIATE_TEST_SUITE_P(
    Context, LayoutTest,
    ::testing::Values(
        Layout{"cp2_ring", 2, context("2", "p2p")}, Layout{"cp4_ring", 4, context("4", "p2p")},
        Layout{"cp2_gathered", 2, context("2", "all_gather")},
        Layout{"cp4_heads", 4, context("4", "a2a")},
        Layout{"cp4_heads_in_ring", 4,
               context("4", "a2a+p2p") + Flags{"--hierarchical-context-parallel-sizes", "2", "2"}},
        Layout{"cp2_tp2_sp", 4, context("2", "p2p") + tensor("2") + kSequence},
        Layout{"cp2_pp2_dp2_sharded", 8, context("2", "p2p") + pipeline("2") + kSharded}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Mixed, LayoutTest,
    ::testing::Values(Layout{"tp2_pp2", 4, tensor("2") + pipeline("2")},
                      Layout{"tp2_sp_pp2_vpp2", 4,
                             tensor("2") + kSequence + pipeline("2") + kVirtual},
                      Layout{"dp2_pp2_sharded_overlap", 4, pipeline("2") + kSharded + kOverlap},
                      Layout{"tp2_sp_dp2_sharded", 4, tensor("2") + kSequence + kSharded},
                      Layout{"tp2_sp_pp2_dp2_sharded", 8,
                             tensor("2") + kSequence + pipeline("2") + kSharded + kOverlap},
                      Layout{"tp2_pp2_dp2_mapped", 8,
                             tensor("2") + pipeline("2") + Flags{"--use-tp-pp-dp-mapping"}}),
    name_of);

}  // namespace
}  // namespace mpitron::train
