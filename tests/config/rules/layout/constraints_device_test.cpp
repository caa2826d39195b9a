#include <vector>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_device_test {

const std::string kGraph = "--enable-cuda-graph --cuda-graph-scope full_iteration ";

/// What breaks a legal run with a graph, and how that is told.
constexpr test::RuleCase kAdded[] = {
    {"--cuda-graph-scope attn", "E180", "Nearest: --cuda-graph-scope full_iteration"},
    {"--num-experts 2 --disable-bias-linear", "E181",
     "experts whose rows differ (--moe-expert-capacity-factor with "
     "--moe-pad-expert-input-to-capacity fixes them). Nearest: leave --enable-cuda-graph out"},
    {"--mtp-num-layers 1", "E181", "multi-token prediction"},
    {"--tensor-model-parallel-size 2 --world-size 2 --distributed-backend mpi", "E181",
     "through the host"},
    {"--overlap-grad-reduce", "E181", "overlapped reductions"},
    {"--cpu-offloading-num-layers 1", "E181", "activations on the host"},
    {"--timing-log-level 2", "E181", "timers of passes"},
    {"--tuning-file t.json --device host", "E214", "Nearest: give --device cuda"},
    {"--device cuda --kv-channels 512", "E205", "512 > 256"},
    {"--tensor-model-parallel-size 2 --world-size 2 --cuda-graph-warmup-steps 0", "E206",
     "Nearest: --cuda-graph-warmup-steps 3"},
    {"--cpu-offloading-num-layers 99", "E207", "cpu_offloading_num_layers = 99"},
    {"--cpu-offloading-num-layers 1 --recompute-granularity full --recompute-method uniform "
     "--recompute-num-layers 1",
     "E208", "--recompute-granularity full. Nearest: leave --cpu-offloading-num-layers out"},
};

TEST(DeviceConstraints, EachIsBrokenByItsSmallestExample) {
  for (const test::RuleCase& added : kAdded) {
    const std::string flags = kGraph + added.flags;
    const test::RuleCase whole{flags.c_str(), added.id, added.in_message};
    test::expect_broken({&whole, 1});
  }
}

TEST(DeviceConstraints, EveryRuleHasAnExample) {
  test::expect_examples(device_constraints(), kAdded);
}

}  // namespace constraints_device_test
}  // namespace mpitron::config
