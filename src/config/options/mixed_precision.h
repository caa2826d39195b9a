#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

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

}  // namespace mpitron::config::rows
