#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on kernels, optimizers and loaders: the second part of the group `training`. Fusions are
// neutral unless they change the numbers.
inline constexpr std::array kTrainingKernels = {
    flag_off("no-masked-softmax-fusion", "masked_softmax_fusion", neutral,
             "choice of the attention softmax kernel"),
    flag_off("no-bias-gelu-fusion", "bias_gelu_fusion", works,
             "compute GELU by erf instead of its tanh approximation (biases stay)"),
    flag_off("no-bias-swiglu-fusion", "bias_swiglu_fusion", neutral, "choice of the SwiGLU kernel"),
    flag("use-fused-weighted-squared-relu", neutral, "choice of the squared-ReLU kernel"),
    flag_off("no-bias-dropout-fusion", "bias_dropout_fusion", neutral,
             "choice of the dropout kernel"),
    flag_off("no-rope-fusion", "apply_rope_fusion", neutral, "choice of the rotary kernel")
        .also("no-bias-rope-fusion"),
    text("rope-type", none, works, "plain rotary frequencies, or stretched by YaRN")
        .choose("rope yarn"),
    flag("cross-entropy-loss-fusion", neutral, "choice of the cross entropy kernel"),
    text("cross-entropy-fusion-impl", "native", neutral, "which fused cross entropy kernel")
        .choose("native te"),
    flag("use-flash-attn", deprecated, "old wish for a fused attention kernel")
        .use("--attention-backend flash"),
    flag_off("disable-bias-linear", "add_bias_linear", works, "linear layers without biases"),
    flag("add-qkv-bias", works,
         "bias in the query/key/value projection even if other layers have none"),
    text("optimizer", "adam", works,
         "update rule; all but adam and sgd take matrices, Adam all else")
        .choose("adam sgd muon dist_muon lion soap adaptive_muon"),
    flag("optimizer-cpu-offload", works,
         "the processor updates parameters of a GPU, their state in host memory"),
    real("optimizer-offload-fraction", "1.0", works,
         "share of the parameters that the processor updates"),
    flag("use-torch-optimizer-for-cpu-offload", unneeded, "optimizer class of another framework"),
    flag("overlap-cpu-optimizer-d2h-h2d", neutral, "overlap the copies of an offloaded optimizer"),
    flag_off("no-pin-cpu-grads", "pin_cpu_grads", neutral,
             "host copies of gradients in pageable memory"),
    flag_off("no-pin-cpu-params", "pin_cpu_params", neutral,
             "host copies of parameters in pageable memory"),
    text("dataloader-type", none, works,
         "read samples once in order (single) or shuffled per epoch (cyclic)")
        .choose("single cyclic external")
        .works_with("single cyclic"),
    flag_off("no-async-tensor-model-parallel-allreduce", "async_tensor_model_parallel_allreduce",
             deprecated, "no longer has a meaning"),
    flag("no-persist-layer-norm", neutral, "choice of the norm kernel"),
    flag("sequence-parallel", works, "split activations along the sequence over tensor ranks"),
    flag_off("no-gradient-accumulation-fusion", "gradient_accumulation_fusion", works,
             "round each weight gradient before it is added to the running sum"),
    flag("use-mcore-models", deprecated, "no longer has a meaning")
        .stored_as("deprecated_use_mcore_models"),
    flag("use-legacy-models", refused, "models of an older release do not exist here"),
    flag("manual-gc", unneeded, "garbage collection of another language"),
    integer("manual-gc-interval", "0", unneeded, "garbage collection of another language"),
    flag_off("no-manual-gc-eval", "manual_gc_eval", unneeded,
             "garbage collection of another language"),
    flag_off("disable-tp-comm-split-ag", "tp_comm_split_ag", neutral,
             "older switch of the tensor-parallel overlap"),
    flag_off("disable-tp-comm-split-rs", "tp_comm_split_rs", neutral,
             "older switch of the tensor-parallel overlap"),
    text("pipeline-model-parallel-comm-backend", none, works,
         "library for messages between pipeline stages")
        .choose("nccl ucc"),
    text("high-priority-stream-groups", "", works,
         "process groups whose GPU streams get high priority")
        .any_list(),
};

}  // namespace mpitron::config::rows
