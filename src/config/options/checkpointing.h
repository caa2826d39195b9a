#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on saving and loading, the group `checkpointing` of Megatron's arguments.py. Formats and
// ways of writing are neutral: here every checkpoint is one HDF5 layout that loads anywhere.
inline constexpr std::array kCheckpointing = {
    text("save", none, works, "folder to write checkpoints to"),
    integer("save-interval", none, works,
            "iterations between two checkpoints; without it, only the end is saved")
        .also("persistent-save-interval"),
    integer("save-retain-interval", none, works,
            "keep only checkpoints whose iteration is a multiple of this"),
    flag("no-save-optim", works, "leave optimizer state out of checkpoints").unset(),
    flag("no-save-rng", neutral, "random numbers have no state: they depend on seed and place")
        .unset(),
    text("load", none, works, "folder to continue from"),
    flag("no-load-optim", works, "do not read optimizer state").unset(),
    flag("load-main-params-from-ckpt", works,
         "read the fp32 parameters instead of deriving them from half precision")
        .unset(),
    flag("no-load-rng", neutral, "random numbers have no state: they depend on seed and place")
        .unset(),
    flag_off("no-strict-fsdp-dtensor-load", "strict_fsdp_dtensor_load", later,
             "accept missing entries in a sharded-parameter checkpoint"),
    integer("non-persistent-save-interval", none, works,
            "iterations between two short-lived checkpoints; the newest is kept"),
    text("non-persistent-ckpt-type", none, works,
         "short-lived checkpoints are whole ones (global) or each rank's state (local)")
        .choose("global local in_memory None"),
    text("non-persistent-global-ckpt-dir", none, works,
         "shared folder for short-lived checkpoints; without it, --save/non_persistent"),
    text("non-persistent-local-ckpt-dir", none, works,
         "node-local folder for short-lived checkpoints"),
    text("non-persistent-local-ckpt-algo", "fully_parallel", neutral,
         "each rank writes the state that it holds")
        .choose("fully_parallel atomic"),
    flag("finetune", works, "load only the weights and start at iteration 0"),
    text("pretrained-checkpoint", none, works,
         "weights to start from when there is nothing to continue"),
    integer("ckpt-step", none, works, "iteration to load instead of the latest"),
    flag_off("no-initialization", "perform_initialization", neutral,
             "what is loaded replaces the random initial weights in any case"),
    flag("use-checkpoint-args", works, "take model options from the checkpoint"),
    flag("use-mp-args-from-checkpoint-args", works, "take layout options from the checkpoint too"),
    flag_off("no-use-tokenizer-model-from-checkpoint-args",
             "use_tokenizer_model_from_checkpoint_args", works,
             "keep the tokenizer given here although the checkpoint names one"),
    flag("exit-on-missing-checkpoint", works,
         "end quietly, with exit code 0, if there is nothing to load"),
    flag("use-dist-ckpt", deprecated, "no longer has a meaning")
        .stored_as("use_dist_ckpt_deprecated")
        .use("--ckpt-format"),
    flag("use-persistent-ckpt-worker", neutral, "one thread of each rank writes, always"),
    flag("auto-detect-ckpt-format", neutral, "there is one format; others are converted"),
    text("dist-ckpt-format", none, deprecated, "old name")
        .stored_as("dist_ckpt_format_deprecated")
        .use("--ckpt-format"),
    text("ckpt-format", "torch_dist", neutral,
         "checkpoints are HDF5 files that load in any layout, whatever is given")
        .choose("torch torch_dist zarr torch_dcp fsdp_dtensor"),
    text("ckpt-convert-format", none, works,
         "write what was loaded to the sub-folder of this name (always HDF5), and end")
        .choose("torch torch_dist zarr"),
    text("ckpt-convert-save", none, works, "folder for the converted checkpoint"),
    flag("ckpt-convert-update-legacy-dist-opt-format", refused,
         "such checkpoints cannot exist here"),
    flag("ckpt-fully-parallel-save", deprecated, "is the default now")
        .stored_as("ckpt_fully_parallel_save_deprecated"),
    flag_off("no-ckpt-fully-parallel-save", "ckpt_fully_parallel_save", neutral,
             "replicas always divide the writing"),
    flag("async-save", works, "write checkpoints in the background").unset(),
    flag("ckpt-fully-parallel-load", neutral, "every rank reads what it needs"),
    flag("ckpt-assume-constant-structure", neutral, "a plan is reused as long as nothing changes"),
    text("dist-ckpt-strictness", "assume_ok_unexpected", works,
         "what may differ between checkpoint and run; without this option, nothing")
        .choose("assume_ok_unexpected log_unexpected log_all raise_unexpected raise_all "
                "return_unexpected return_all ignore_all"),
    flag("load-model-opt-format", refused, "state of an optimiser tool of another framework")
        .use("mpitron convert"),
};

}  // namespace mpitron::config::rows
