#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

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

}  // namespace mpitron::config::rows
