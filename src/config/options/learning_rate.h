#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

inline constexpr std::array kLearningRate = {
    real("lr", none, works, "largest learning rate"),
    text("lr-decay-style", "linear", works, "shape of the learning rate after the warm-up")
        .choose("constant linear cosine inverse-square-root WSD"),
    text("lr-wsd-decay-style", "exponential", works, "shape of the last phase of the WSD schedule")
        .choose("exponential linear cosine minus_sqrt"),
    integer("lr-decay-iters", none, works,
            "iterations until the smallest learning rate; all of the training"),
    integer("lr-decay-samples", none, works,
            "samples until the smallest learning rate; all of the training"),
    integer("lr-wsd-decay-samples", none, works, "length of the last phase of WSD, in samples"),
    integer("lr-wsd-decay-iters", none, works, "length of the last phase of WSD, in iterations"),
    real("lr-warmup-fraction", none, works, "share of the decay length that is linear warm-up"),
    integer("lr-warmup-iters", "0", works, "iterations of linear warm-up"),
    integer("lr-warmup-samples", "0", works, "samples of linear warm-up"),
    real("lr-warmup-init", "0.0", works, "learning rate at the start of the warm-up"),
    integer("warmup", none, removed, "removed").use("--lr-warmup-fraction"),
    real("min-lr", "0.0", works, "smallest learning rate"),
    flag("override-opt_param-scheduler", works,
         "schedule from these flags, whatever the checkpoint says"),
    flag("use-checkpoint-opt_param-scheduler", works,
         "schedule from the checkpoint, whatever these flags say"),
    real("decoupled-lr", none, works, "learning rate of embedding and output matrix"),
    real("decoupled-min-lr", none, works, "smallest learning rate of embedding and output matrix"),
};

}  // namespace mpitron::config::rows
