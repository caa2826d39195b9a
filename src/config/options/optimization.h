#pragma once

#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on the schedule of the learning rate, the group `learning rate` of Megatron's
// arguments.py. Lengths may be iterations or samples; resolution turns both into samples.
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

// Options on dropout, weight decay, clipping and the update rules, the group `regularization`.
inline constexpr std::array kRegularization = {
    real("attention-dropout", "0.1", works, "dropout probability on attention weights"),
    real("hidden-dropout", "0.1", works,
         "dropout probability on embeddings and on both branches of a layer"),
    real("weight-decay", "0.01", works,
         "decoupled weight decay; biases and 1-D parameters are exempt"),
    real("start-weight-decay", none, works,
         "weight decay at the first step of an increasing schedule"),
    real("end-weight-decay", none, works, "weight decay at the end of an increasing schedule"),
    text("weight-decay-incr-style", "constant", works, "shape of the weight decay schedule")
        .choose("constant linear cosine"),
    real("clip-grad", "1.0", works, "largest global L2 norm of the gradient; 0 turns clipping off"),
    real("adam-beta1", "0.9", works, "decay of Adam's first moment"),
    real("adam-beta2", "0.999", works, "decay of Adam's second moment"),
    real("adam-eps", "1e-08", works, "added to the root of Adam's second moment"),
    real("sgd-momentum", "0.9", works, "momentum of SGD"),
};

// Options on random numbers and initial weights, the group `initialization`.
inline constexpr std::array kInitialization = {
    integer("seed", "1234", works, "seed of weights, dropout and data order"),
    flag("data-parallel-random-init", neutral,
         "seeds of replicas: all take the first one's weights, and masks belong to samples"),
    real("init-method-std", "0.02", works, "standard deviation of initial weights"),
    real("embedding-init-method-std", none, works,
         "the same for embeddings, which then also get no weight decay"),
    flag("init-method-xavier-uniform", works, "initial weights uniform by fan-in and fan-out"),
};

}  // namespace mpitron::config::rows
