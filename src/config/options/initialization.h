#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

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
