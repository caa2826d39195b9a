#include "plan/model/job.h"

#include <gtest/gtest.h>

#include "plan/model/flops_formula.h"
#include "plan/planned_run.h"

namespace mpitron::plan {
namespace job_test {

TEST(Job, IsWhatTheOptionsSay) {
  const Job job = make_job(test::tiny_run(
      "--swiglu --ffn-hidden-size 96 --num-experts 4 --moe-router-topk 2 --world-size 4 "
      "--expert-model-parallel-size 2 --bf16 --disable-bias-linear --group-query-attention "
      "--num-query-groups 2"));
  EXPECT_EQ(job.experts(), 4);
  EXPECT_EQ(job.visits(), 2);
  EXPECT_EQ(job.ranks(), 4);
  EXPECT_EQ(job.expert(), 2);
  EXPECT_EQ(job.expert_data(), 2);
  EXPECT_EQ(job.microbatches(), 4);
  EXPECT_EQ(job.vocabulary(), 128);  // padded
  EXPECT_EQ(job.precision(), Precision::bf16);
  EXPECT_EQ(stage_layout(job).stages(), 1);
}

TEST(Job, HardwareFormulaIsThatOfTheArticle) {
  // 96 B s L h^2 (1 + s / 6h + V / 16 L h), arXiv:2104.04473
  const double s = 2048, h = 12288, layers = 96;
  const double expected =
      96 * 1536 * s * layers * h * h * (1 + s / (6 * h) + 51200 / (16 * layers * h));
  const Job job =
      make_job(test::planned_run({.layers = 96, .hidden = 12288, .heads = 96}, 2048, 1536));
  EXPECT_NEAR(step_flops(job, FlopsFormula::hardware) / expected, 1, 1e-6);
  EXPECT_NEAR(step_flops(job, FlopsFormula::megatron) / expected, 0.75, 0.02);
}

}  // namespace job_test
}  // namespace mpitron::plan
