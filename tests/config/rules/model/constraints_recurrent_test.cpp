#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_recurrent_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--mamba-state-dim 16 --is-hybrid-model", "E250",
     "--is-hybrid-model, --mamba-state-dim with --model gpt"},
    {"--spec megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec", "E250", "--spec"},
    {"--model mamba --mamba-head-dim 8 --mamba-num-groups 3", "E253",
     "--mamba-num-groups 2 | --mamba-num-groups 4"},
    {"--model mamba --mamba-head-dim 8 --mamba-num-groups 2 --tensor-model-parallel-size 3", "E253",
     "--tensor-model-parallel-size 2 | --tensor-model-parallel-size 4"},
    {"--model mamba --mamba-num-heads 6 --mamba-num-groups 2 --context-parallel-size 4", "E253",
     "--context-parallel-size 2 | --context-parallel-size 6"},
    {"--model mamba --mamba-head-dim 7 --mamba-num-groups 4", "E253",
     "--mamba-head-dim 4 | --mamba-head-dim 8"},
    {"--model mamba --mamba-state-dim 0", "E253", "states of 0"},
    {"--model mamba --swiglu --hybrid-layer-pattern G* --linear-num-key-heads 3", "E254",
     "3 key heads"},
    {"--model mamba --hybrid-layer-pattern G* --linear-num-key-heads 3", "E254", "SiLU; 32 value"},
    {"--model mamba --mamba-head-dim 8 --mamba-num-groups 2 --context-parallel-size 3", "E253",
     "3 context ranks"},
    {"--model mamba --swiglu --hybrid-layer-pattern G* --linear-num-key-heads 2 "
     "--linear-num-value-heads 4 --context-parallel-size 4",
     "E254", "4 context ranks"},
    {"--model mamba --swiglu --hybrid-layer-pattern G* --linear-key-head-dim 0", "E254",
     "--linear-key-head-dim 0"},
    {"--experimental-attention-variant gated_delta_net --swiglu", "E259", "no --linear"},
    {"--experimental-attention-variant gated_delta_net --swiglu --linear-attention-freq [1,0]",
     "E259", "2 entries, 4 layers"},
    {"--model bert --experimental-attention-variant gated_delta_net --swiglu "
     "--linear-attention-freq 2",
     "E259", "an encoder"},
    {"--linear-attention-freq 2", "E259", "no delta nets"},
    {"--model mamba --hybrid-layer-pattern M- --experimental-attention-variant dsa", "E259",
     "letters D"},
    {"--model mamba --hybrid-layer-pattern M* --linear-attention-freq 2", "E259", "letters G"},
    {"--experimental-attention-variant gated_delta_net --swiglu --linear-attention-freq 1", "E259",
     "no layer"},
};

TEST(RecurrentConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(RecurrentConstraints, EveryRuleHasAnExample) {
  test::expect_examples(recurrent_constraints(), kBroken);
}

}  // namespace constraints_recurrent_test
}  // namespace mpitron::config
