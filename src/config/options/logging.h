#pragma once

#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on what is printed and written while training, the group `logging` of Megatron's
// arguments.py.
inline constexpr std::array kLogging = {
    flag("log-params-norm", works, "log the L2 norm of all parameters"),
    flag("log-num-zeros-in-grad", works, "log how many gradient elements are zero"),
    flag("log-throughput", works, "log the achieved TFLOP/s"),
    flag("log-progress", works, "append starts and saves to progress.txt in the --save folder"),
    integer("timing-log-level", "0", works,
            "0: whole iterations, 1: their main parts, 2: everything")
        .choose("0 1 2"),
    flag("log-energy", later, "log the energy per iteration"),
    flag_off("no-barrier-with-level-1-timing", "barrier_with_L1_time", works,
             "do not wait for other ranks before timing"),
    text("timing-log-option", "minmax", works,
         "over ranks: the largest time, smallest and largest, or all")
        .choose("max minmax all"),
    integer("tensorboard-log-interval", "1", works, "iterations between two TensorBoard entries"),
    integer("tensorboard-queue-size", "1000", neutral, "entries kept before they are written"),
    flag("log-timers-to-tensorboard", works,
         "write the timers (see --timing-log-level) and the time of an iteration to TensorBoard"),
    flag_off("no-log-loss-scale-to-tensorboard", "log_loss_scale_to_tensorboard", works,
             "do not write the loss scale to TensorBoard"),
    flag("log-validation-ppl-to-tensorboard", works,
         "write the validation perplexity to TensorBoard"),
    flag("log-memory-to-tensorboard", works, "write memory use to TensorBoard"),
    flag("log-world-size-to-tensorboard", works, "write the number of ranks to TensorBoard"),
    text("wandb-project", "", unneeded, "web service; metrics.jsonl holds the same figures"),
    text("wandb-exp-name", "", unneeded, "web service; metrics.jsonl holds the same figures"),
    text("wandb-save-dir", "", unneeded, "web service; metrics.jsonl holds the same figures"),
    integer("logging-level", none, works, "10 debug, 20 info, 30 warning, 40 error"),
};

// Options on evaluation during training, the group `validation`.
inline constexpr std::array kValidation = {
    flag("full-validation", works,
         "evaluate on the whole validation set; --eval-iters then counts for the test set only"),
    flag("multiple-validation-sets", works, "report each corpus of --valid-data-path on its own"),
    integer("eval-iters", "100", works, "iterations of one evaluation"),
    integer("eval-interval", "1000", works,
            "training iterations between two evaluations; 0: only at the end"),
    flag("test-mode", unneeded, "tag for an internal service"),
    flag("skip-train", works, "no training, only the final evaluation"),
};

}  // namespace mpitron::config::rows
