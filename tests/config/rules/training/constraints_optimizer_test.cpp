#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_optimizer_test {

constexpr test::RuleCase kCases[] = {
    {"--use-precision-aware-optimizer", "E184", "Nearest: --use-distributed-optimizer"},
    {"--use-precision-aware-optimizer --use-distributed-optimizer --optimizer sgd", "E184",
     "Nearest: --optimizer adam"},
    {"--exp-avg-dtype fp8 --exp-avg-sq-dtype fp16", "E185",
     "exp_avg_dtype = fp8, exp_avg_sq_dtype = fp16"},
    {"--main-grads-dtype bf16", "E186", "Nearest: --bf16"},
    {"--main-grads-dtype bf16 --bf16 --accumulate-allreduce-grads-in-fp32", "E186",
     "Nearest: --main-grads-dtype fp32"},
    {"--main-params-dtype fp16", "E195", "fp32 parameters are their own masters"},
    {"--optimizer-cpu-offload", "E196", "Nearest: --use-precision-aware-optimizer"},
    {"--optimizer-offload-fraction 1.5", "E197", "Nearest: --optimizer-offload-fraction 1"},
    {"--optimizer lion --fp16", "E247", "--fp16"},
    {"--optimizer muon --muon-momentum 1 --muon-num-ns-steps 0", "E360",
     "--muon-momentum 1; --muon-num-ns-steps 0"},
    {"--optimizer muon --muon-scalar-optimizer lion --lion-beta2 2", "E360", "--lion-beta2 2"},
    {"--optimizer adaptive_muon --adaptive-muon-beta2 1 --adaptive-muon-eps 0", "E360",
     "--adaptive-muon-beta2 1; --adaptive-muon-eps 0"},
    {"--optimizer adaptive_muon --adaptive-muon-moment2-method normuon --muon-tp-mode blockwise",
     "E361", "--muon-tp-mode blockwise"},
    {"--optimizer soap --soap-shampoo-beta 1 --soap-precondition-frequency 0", "E362",
     "--soap-shampoo-beta 1; --soap-precondition-frequency 0"},
    {"--qk-clip --qk-clip-alpha 1", "E248", "alpha 1"},
    {"--qk-clip --qk-clip-threshold 0 --qk-clip-alpha 2", "E248",
     "--qk-clip-alpha 2; --qk-clip-threshold 0"},
    {"--step-batch-size-schedule 0:8,5:4,5:2", "E249", "0:8,5:4,5:2"},
    {"--step-batch-size-schedule 0:8 --rampup-batch-size 2 2 8", "E249", "rampup_batch_size"},
};

TEST(OptimizerConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kCases);
}

TEST(OptimizerConstraints, EveryRuleHasAnExample) {
  test::expect_examples(optimizer_constraints(), kCases);
}

TEST(OptimizerConstraints, TypesOfStateAreRead) {
  const ParsedRun parsed = test::parse_base(
      "--bf16 --use-precision-aware-optimizer --use-distributed-optimizer --main-grads-dtype bf16 "
      "--exp-avg-dtype fp8 --exp-avg-sq-dtype fp16");
  EXPECT_TRUE(parsed.findings.empty()) << test::all_findings(parsed);
  const OptimizerConfig& optimizer = parsed.run.optimizer;
  EXPECT_EQ(optimizer.main_grad_dtype, DType::bf16);
  EXPECT_EQ(
      optimizer.state_types,
      (StateTypes{.exp_avg = DType::u8, .exp_avg_sq = DType::f16, .masters_below_params = true}));
  EXPECT_EQ(test::parse_base("--bf16").run.optimizer.state_types, StateTypes{});
}

TEST(OptimizerConstraints, AnOffloadedShareIsRead) {
  const ParsedRun parsed = test::parse_base(
      "--use-precision-aware-optimizer --use-distributed-optimizer --optimizer-cpu-offload "
      "--optimizer-offload-fraction 0.25 --overlap-cpu-optimizer-d2h-h2d --no-pin-cpu-grads");
  ASSERT_TRUE(parsed.run.optimizer.offload.has_value()) << test::all_findings(parsed);
  EXPECT_EQ(parsed.run.optimizer.offload->fraction, 0.25);
  EXPECT_TRUE(parsed.run.optimizer.offload->overlap);
  EXPECT_FALSE(parsed.run.optimizer.offload->pin_grads);
  EXPECT_TRUE(parsed.run.optimizer.offload->pin_params);
  const ParsedRun unused = test::parse_base("--optimizer-offload-fraction 0.25");
  EXPECT_FALSE(unused.run.optimizer.offload.has_value());
  ASSERT_EQ(unused.notices.size(), 1U);
  EXPECT_EQ(unused.notices[0],
            "--optimizer-offload-fraction has no effect without --optimizer-cpu-offload");
}

}  // namespace constraints_optimizer_test
}  // namespace mpitron::config
