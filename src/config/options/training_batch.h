#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on batches, recomputation, checks of results and profiles: the first part of the group
// `training` of Megatron's arguments.py.
inline constexpr std::array kTrainingBatch = {
    integer("micro-batch-size", none, works, "sequences per model replica in one forward pass"),
    integer("batch-size", none, removed, "removed").use("--micro-batch-size"),
    integer("global-batch-size", none, works,
            "sequences per optimizer step over all replicas; micro batch x data-parallel size"),
    text("rampup-batch-size", none, works,
         "START INCREMENT SAMPLES: grow the global batch linearly over the first samples")
        .any_list(),
    flag("decrease-batch-size-if-needed", works,
         "round a running batch size down when it does not fit the replicas"),
    flag("recompute-activations", deprecated, "old switch for selective recompute")
        .use("--recompute-granularity selective"),
    text("recompute-granularity", none, works,
         "recompute activations in backward: whole layers or chosen parts")
        .choose("full selective"),
    flag_off("no-check-for-nan-in-loss-and-grad", "check_for_nan_in_loss_and_grad", works,
             "go on when a loss or gradient is not finite"),
    flag("check-for-spiky-loss", works,
         "warn of a loss more than ten times the largest of the first 100 iterations"),
    flag("check-for-large-grads", works,
         "warn of a gradient norm more than ten times the largest of the first 100 iterations"),
    flag("distribute-saved-activations", works,
         "spread the stored inputs of recomputed layers over tensor ranks"),
    text("recompute-method", none, works,
         "which layers full recompute covers: groups of n (uniform) or the first n (block)")
        .choose("uniform block"),
    integer("recompute-num-layers", none, works,
            "layers per group (uniform) or layers to recompute (block)"),
    text("recompute-modules", none, works, "parts of a layer that selective recompute drops")
        .any_list()
        .works_with("core_attn layernorm mla_up_proj mlp moe moe_act shared_experts"),
    flag_off("no-clone-scatter-output-in-embedding", "clone_scatter_output_in_embedding", neutral,
             "memory detail of another framework"),
    flag("profile", works,
         "record what the --profile-ranks do in some steps: a Chrome trace in --profile-dir"),
    integer("profile-step-start", "10", works, "the step before the first recorded one"),
    integer("profile-step-end", "12", works, "the last recorded step"),
    integer("iterations-to-skip", "", works, "iterations whose batch is read but not trained on")
        .list(),
    text("result-rejected-tracker-filename", none, works,
         "file of iterations that were not finite; one that is in it twice is skipped"),
    flag_off("disable-gloo-process-groups", "enable_gloo_process_groups", neutral,
             "no separate host groups"),
    flag("use-pytorch-profiler", unneeded, "profiler of another framework"),
    integer("profile-ranks", "0", works, "ranks that --profile records").list(),
    flag("record-memory-history", unneeded, "record GPU allocations"),
    text("memory-snapshot-path", "snapshot.pickle", neutral,
         "file for the recorded GPU allocations"),
};

}  // namespace mpitron::config::rows
