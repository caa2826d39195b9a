#pragma once

#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on 16-bit training, the group `mixed precision` of Megatron's arguments.py. Choices of
// fp32 that always hold here are neutral.
inline constexpr std::array kMixedPrecision = {
    flag("fp16", works, "train in half precision with loss scaling"),
    flag("bf16", works, "train in bfloat16 with fp32 master weights"),
    flag("grad-reduce-in-bf16", works, "accumulate and reduce gradients in bfloat16"),
    real("loss-scale", none, works, "constant loss scale; without it fp16 finds one by itself"),
    real("initial-loss-scale", "4294967296", works, "first value of the dynamic loss scale"),
    real("min-loss-scale", "1.0", works, "smallest dynamic loss scale"),
    real("loss-scale-window", "1000", works, "steps without overflow before the scale doubles"),
    integer("hysteresis", "2", works, "overflows tolerated before the scale is halved"),
    flag("fp32-residual-connection", works, "keep the residual stream in fp32"),
    flag("apply-query-key-layer-scaling", works,
         "divide scores by the layer number and multiply in the fp32 softmax"),
    flag("attention-softmax-in-fp32", works, "compute the attention softmax in fp32"),
    flag("accumulate-allreduce-grads-in-fp32", works,
         "accumulate and reduce gradients in fp32; the default of bf16"),
    flag("fp16-lm-cross-entropy", neutral, "the cross entropy is computed in fp32 here anyway"),
    flag("disable-bf16-reduced-precision-matmul", neutral,
         "products accumulate in fp32 here anyway"),
    flag("reuse-grad-buf-for-mxfp8-param-ag", later,
         "share one buffer between gradients and fp8 parameters"),
};

// Options on 8-bit products, the group `transformer-engine`; the meaning of each recipe stands in
// docs/numerics.md.
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
