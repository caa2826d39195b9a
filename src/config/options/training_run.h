#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on the length of a run, its ends and its overlaps: the third part of the group
// `training`.
inline constexpr std::array kTrainingRun = {
    flag("tp-comm-overlap", works, "overlap tensor-parallel communication with matrix products"),
    text("tp-comm-overlap-cfg", none, later,
         "settings of that overlap, one entry per matrix product"),
    flag_off("disable-tp-comm-overlap-ag", "tp_comm_overlap_ag", neutral,
             "no pipelined all-gather in that overlap"),
    flag_off("disable-tp-comm-overlap-rs", "tp_comm_overlap_rs", neutral,
             "no pipelined reduce-scatter in that overlap"),
    flag("tp-comm-overlap-rs-dgrad", neutral, "overlap the reduce-scatter with the input gradient"),
    flag_off("disable-tp-comm-bulk-dgrad", "tp_comm_bulk_dgrad", neutral,
             "no bulk all-gather during the input gradient"),
    flag_off("disable-tp-comm-bulk-wgrad", "tp_comm_bulk_wgrad", neutral,
             "no bulk reduce-scatter during the weight gradient"),
    text("tp-comm-bootstrap-backend", "nccl", neutral, "how the overlap buffers find each other")
        .choose("nccl mpi gloo"),
    flag("use-cpu-initialization", neutral, "initial weights never depend on layout or device here")
        .unset(),
    integer("empty-unused-memory-level", "0", neutral, "how often the GPU memory cache is emptied")
        .choose("0 1 2"),
    flag("deterministic-mode", works,
         "refuse every algorithm whose bits could differ between two runs"),
    integer("check-weight-hash-across-dp-replicas-interval", none, works,
            "compare hashes of the weights of all replicas every n iterations"),
    flag("calculate-per-token-loss", works,
         "average gradients over all tokens of the batch, not over micro batches"),
    integer("train-sync-interval", none, neutral, "wait for the GPU every n iterations"),
    flag("checkpoint-activations", removed, "removed").use("--recompute-granularity"),
    integer("train-iters", none, works,
            "train for this many optimizer steps; or give --train-samples"),
    integer("train-samples", none, works, "train on this many sequences; or give --train-iters"),
    integer("log-interval", "100", works, "iterations between two log lines"),
    integer("exit-interval", none, works,
            "end the program when the iteration is a multiple of this"),
    integer("exit-duration-in-mins", none, works, "end the program after this many minutes"),
    flag("exit-signal-handler", works, "on SIGTERM finish the step and end in order"),
    text("tensorboard-dir", none, works, "folder for TensorBoard event files"),
};

}  // namespace mpitron::config::rows
