#include <gtest/gtest.h>

#include "train/layout_cases.h"

// A student learns alike from its teacher in every layout.

namespace mpitron::train {
namespace distillation_layout_test {

const Flags kStudent = {"--num-layers",
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

LayoutOutcome run_student(const Flags& flags, Index ranks) {
  config::RunConfig run = tiny_run(kStudent + flags, ranks);
  run.model.distillation = config::DistillationConfig{.temperature = 2, .weight = 0.7};
  return run_layout(run, 3);
}

class DistillationLayout : public ::testing::TestWithParam<Layout> {};

TEST_P(DistillationLayout, TrainsAsOneRankDoes) {
  const LayoutOutcome alone = run_student({}, 1);
  expect_equal(run_student(GetParam().flags, GetParam().ranks), alone);
  EXPECT_NE(alone.losses.front(), alone.losses.back());
}

INSTANTIATE_TEST_SUITE_P(
    All, DistillationLayout,
    ::testing::Values(
        Layout{"tp2", 2, {"--tensor-model-parallel-size", "2", "--sequence-parallel"}},
        Layout{"pp2", 2, {"--pipeline-model-parallel-size", "2"}}, Layout{"dp2", 2, {}},
        Layout{"cp2", 2, {"--context-parallel-size", "2"}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace distillation_layout_test
}  // namespace mpitron::train
