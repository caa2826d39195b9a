#include <gtest/gtest.h>

#include "train/layout_cases.h"

// Preferences are learned alike in every layout.

namespace mpitron::train {
namespace preference_layout_test {

const Flags kPairs = {"--num-layers",
                      "4",
                      "--hidden-dropout",
                      "0",
                      "--attention-dropout",
                      "0",
                      "--optimizer",
                      "sgd",
                      "--lr",
                      "0.5",
                      "--micro-batch-size",
                      "1"};

LayoutOutcome run_pairs(const Flags& flags, Index ranks) {
  config::RunConfig run = tiny_run(kPairs + flags, ranks);
  run.model.preference = config::PreferenceConfig{.beta = 0.5, .label_smoothing = 0.1};
  return run_layout(run, 3);
}

class PreferenceLayout : public ::testing::TestWithParam<Layout> {};

TEST_P(PreferenceLayout, TrainsAsOneRankDoes) {
  const LayoutOutcome alone = run_pairs({}, 1);
  expect_equal(run_pairs(GetParam().flags, GetParam().ranks), alone);
  EXPECT_NE(alone.losses.front(), alone.losses.back());
}

INSTANTIATE_TEST_SUITE_P(
    All, PreferenceLayout,
    ::testing::Values(
        Layout{"tp2", 2, {"--tensor-model-parallel-size", "2", "--sequence-parallel"}},
        Layout{"pp2", 2, {"--pipeline-model-parallel-size", "2"}}, Layout{"dp2", 2, {}},
        Layout{"cp2", 2, {"--context-parallel-size", "2"}},
        Layout{"micro_batches", 1, {"--micro-batch-size", "4"}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace preference_layout_test
}  // namespace mpitron::train
