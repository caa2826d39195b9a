#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

inline constexpr std::array kCheckpointing = {
    text("save", none, later, "folder to write checkpoints to"),
    integer("save-interval", none, later, "iterations between two checkpoints")
        .also("persistent-save-interval"),
    integer("save-retain-interval", none, later,
            "keep only checkpoints whose iteration is a multiple of this"),
    flag("no-save-optim", later, "leave optimizer state out of checkpoints").unset(),
    flag("no-save-rng", later, "leave random state out of checkpoints").unset(),
    text("load", none, later, "folder to continue from"),
    flag("no-load-optim", later, "do not read optimizer state").unset(),
    flag("load-main-params-from-ckpt", later,
         "read the fp32 parameters instead of deriving them from half precision")
        .unset(),
    flag("no-load-rng", later, "do not read random state").unset(),
    flag_off("no-strict-fsdp-dtensor-load", "strict_fsdp_dtensor_load", later,
             "accept missing entries in a sharded-parameter checkpoint"),
    integer("non-persistent-save-interval", none, later,
            "iterations between two short-lived checkpoints"),
    text("non-persistent-ckpt-type", none, later, "where short-lived checkpoints live")
        .choose("global local in_memory None"),
    text("non-persistent-global-ckpt-dir", none, later,
         "shared folder for short-lived checkpoints"),
    text("non-persistent-local-ckpt-dir", none, later,
         "node-local folder for short-lived checkpoints"),
    text("non-persistent-local-ckpt-algo", "fully_parallel", later,
         "how local checkpoints are written")
        .choose("fully_parallel atomic"),
    flag("finetune", later, "load only the weights and start at iteration 0"),
    text("pretrained-checkpoint", none, later,
         "weights to start from when there is nothing to continue"),
    integer("ckpt-step", none, later, "iteration to load instead of the latest"),
    flag_off("no-initialization", "perform_initialization", later,
             "skip random initial weights before a checkpoint is loaded"),
    flag("use-checkpoint-args", later, "take model options from the checkpoint"),
    flag("use-mp-args-from-checkpoint-args", later, "take layout options from the checkpoint too"),
    flag_off("no-use-tokenizer-model-from-checkpoint-args",
             "use_tokenizer_model_from_checkpoint_args", later,
             "keep the tokenizer given here although the checkpoint names one"),
    flag("exit-on-missing-checkpoint", later,
         "fail if there is nothing to load, instead of starting from scratch"),
    flag("use-dist-ckpt", deprecated, "no longer has a meaning")
        .stored_as("use_dist_ckpt_deprecated")
        .use("--ckpt-format"),
    flag("use-persistent-ckpt-worker", later, "one long-lived writer for asynchronous checkpoints"),
    flag("auto-detect-ckpt-format", later, "find out the format of the checkpoint to load"),
    text("dist-ckpt-format", none, deprecated, "old name")
        .stored_as("dist_ckpt_format_deprecated")
        .use("--ckpt-format"),
    text("ckpt-format", "torch_dist", later, "layout of checkpoints on disk")
        .choose("torch torch_dist zarr torch_dcp fsdp_dtensor"),
    text("ckpt-convert-format", none, later,
         "write the loaded checkpoint in another format and end")
        .choose("torch torch_dist zarr"),
    text("ckpt-convert-save", none, later, "folder for the converted checkpoint"),
    flag("ckpt-convert-update-legacy-dist-opt-format", refused,
         "such checkpoints cannot exist here"),
    flag("ckpt-fully-parallel-save", deprecated, "is the default now")
        .stored_as("ckpt_fully_parallel_save_deprecated"),
    flag_off("no-ckpt-fully-parallel-save", "ckpt_fully_parallel_save", later,
             "only the first replica writes"),
    flag("async-save", later, "write checkpoints in the background").unset(),
    flag("ckpt-fully-parallel-load", later, "replicas read parts and exchange them"),
    flag("ckpt-assume-constant-structure", later, "plan a checkpoint once and reuse the plan"),
    text("dist-ckpt-strictness", "assume_ok_unexpected", later,
         "what happens to missing and unexpected entries")
        .choose("assume_ok_unexpected log_unexpected log_all raise_unexpected raise_all "
                "return_unexpected return_all ignore_all"),
    flag("load-model-opt-format", refused, "state of an optimiser tool of another framework")
        .use("mpitron convert"),
};

}  // namespace mpitron::config::rows
