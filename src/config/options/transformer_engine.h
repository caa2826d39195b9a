#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

inline constexpr std::array kTransformerEngine = {
    text("fp8-format", none, works, "8-bit format of matrix products")
        .stored_as("fp8")
        .choose("e4m3 hybrid"),
    text("fp8-recipe", "delayed", works, "how 8-bit scales are found")
        .choose("tensorwise delayed mxfp8 blockwise")
        .works_with("tensorwise delayed blockwise"),
    integer("fp8-margin", "0", works, "headroom of the 8-bit scale in powers of two"),
    integer("fp8-interval", "1", deprecated, "no longer has a meaning"),
    integer("fp8-amax-history-len", "1", works, "steps whose maxima are remembered"),
    text("fp8-amax-compute-algo", "most_recent", works,
         "newest or largest of the remembered maxima")
        .choose("most_recent max"),
    flag_off("no-fp8-wgrad", "fp8_wgrad", works, "weight gradients in the working type"),
    text("transformer-impl", "transformer_engine", neutral,
         "which implementation the reference would take; there is one here")
        .choose("local transformer_engine"),
    flag("fp8-param-gather", unneeded,
         "parameters stay in the working type; 8-bit numbers are made of it where they are used"),
    flag("first-last-layers-bf16", works, "first and last layers without fp8"),
    integer("num-layers-at-start-in-bf16", "1", works, "how many first layers"),
    integer("num-layers-at-end-in-bf16", "1", works, "how many last layers"),
    flag("te-rng-tracker", neutral, "random state of a GPU library"),
    flag("inference-rng-tracker", neutral, "random state during generation"),
};

}  // namespace mpitron::config::rows
