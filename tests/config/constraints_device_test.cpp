#include <vector>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace {

const std::string kGraph =
    "--enable-cuda-graph --cuda-graph-scope full_iteration --hidden-dropout 0 --attention-dropout "
    "0 ";

/// What breaks a legal run with a graph, and how that is told.
constexpr test::RuleCase kAdded[] = {
    {"--cuda-graph-scope attn", "E180", "Nearest: --cuda-graph-scope full_iteration"},
    {"--hidden-dropout 0.1", "E181", "dropout. Nearest: leave --enable-cuda-graph out"},
    {"--num-experts 2 --disable-bias-linear", "E181", "experts"},
    {"--mtp-num-layers 1", "E181", "multi-token prediction"},
    {"--tensor-model-parallel-size 2 --world-size 2", "E181", "a model over several ranks"},
    {"--overlap-grad-reduce", "E181", "overlapped communication"},
    {"--timing-log-level 2", "E181", "timers of passes"},
    {"--tuning-file t.json --attention-backend flash", "E200", "Nearest: --attention-backend auto"},
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

}  // namespace
}  // namespace mpitron::config
