#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options of the group `experimental` of Megatron's arguments.py: Mamba and hybrids, options from
// YAML, and types of the optimizer's state.
inline constexpr std::array kExperimental = {
    flag("enable-experimental", unneeded, "lifts guards that do not exist here"),
    text("spec", none, later, "layer specification of the reference")
        .any_list()
        .works_with("local megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec"),
    real("hybrid-attention-ratio", "0.0", works, "share of attention layers in a hybrid model"),
    real("hybrid-mlp-ratio", "0.0", works, "share of MLP layers in a hybrid model"),
    text("hybrid-override-pattern", none, works,
         "one letter per layer: M Mamba, * attention, - MLP"),
    integer("mamba-state-dim", "128", works, "state size of Mamba"),
    integer("mamba-head-dim", "64", works, "head size of Mamba"),
    integer("mamba-num-groups", "8", works, "groups of Mamba"),
    integer("mamba-num-heads", none, works, "heads of Mamba"),
    flag("is-hybrid-model", works, "mixes Mamba, attention and MLP layers"),
    flag("disable-mamba-mem-eff-path", unneeded, "has no effect in the reference either"),
    text("yaml-cfg", none, works, "YAML file with options; flags on the command line win"),
    flag("use-precision-aware-optimizer", works, "store Adam's state in the types below"),
    text("main-grads-dtype", "fp32", works, "type of the accumulated gradients")
        .choose("fp32 bf16"),
    text("main-params-dtype", "fp32", works, "type of the master weights").choose("fp32 fp16"),
    text("exp-avg-dtype", "fp32", works, "type of Adam's first moment")
        .choose("fp32 fp16 bf16 fp8"),
    text("exp-avg-sq-dtype", "fp32", works, "type of Adam's second moment")
        .choose("fp32 fp16 bf16 fp8"),
};

}  // namespace mpitron::config::rows
