#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on layers with experts, the group `moe` of Megatron's arguments.py. Choices of kernels
// are neutral: experts always are one grouped product here.
inline constexpr std::array kMoe = {
    integer("expert-model-parallel-size", "1", works, "ranks that share the experts"),
    integer("expert-tensor-parallel-size", none, works, "ranks that share each expert's matrices"),
    integer("num-experts", none, works, "experts per mixture-of-experts layer"),
    value("moe-layer-freq", Type::frequency, "1", works,
          "which layers have experts: every n-th, or a list such as ([1]*3+[0])*3"),
    integer("moe-ffn-hidden-size", none, works, "inner width of an expert"),
    integer("moe-shared-expert-intermediate-size", none, works,
            "inner width of the expert all tokens visit"),
    flag("moe-shared-expert-overlap", works, "the shared expert runs while tokens travel"),
    flag("moe-grouped-gemm", neutral, "experts always are one grouped matrix product here"),
    flag("moe-use-legacy-grouped-gemm", unneeded, "weight layout of an older class"),
    flag("moe-layer-recompute", deprecated, "old switch for recomputing expert layers")
        .use("--recompute-granularity selective --recompute-modules moe"),
    flag("moe-extended-tp", deprecated, "no longer has a meaning")
        .use("--expert-tensor-parallel-size"),
    flag("moe-use-upcycling", works, "turn a dense checkpoint into experts, save it and exit"),
    text("moe-router-load-balancing-type", "aux_loss", works, "how the router is kept balanced")
        .list()
        .choose("aux_loss seq_aux_loss sinkhorn none global_aux_loss"),
    text("moe-router-dtype", none, works, "precision of the routing").choose("fp32 fp64"),
    flag("moe-router-fusion", neutral, "choice of the router kernel"),
    text("moe-router-score-function", "softmax", works, "how router logits become scores")
        .choose("softmax sigmoid sqrtsoftplus"),
    integer("moe-router-topk", "2", works, "experts per token"),
    flag("moe-router-pre-softmax", works, "softmax before choosing experts"),
    integer("moe-router-num-groups", none, works, "groups of experts for grouped routing"),
    integer("moe-router-group-topk", none, works, "groups a token may choose from"),
    real("moe-router-topk-scaling-factor", none, works,
         "factor on the probabilities of the chosen experts"),
    flag("moe-router-enable-expert-bias", works, "balance by a bias per expert instead of a loss"),
    real("moe-router-bias-update-rate", "0.001", works, "step of that bias"),
    flag("moe-router-force-load-balancing", works, "random routing, for measurements"),
    flag("moe-router-padding-for-fp8", neutral, "products fill experts' rows up to 16 themselves"),
    real("moe-aux-loss-coeff", "0.0", works, "weight of each balancing loss").list(),
    real("moe-z-loss-coeff", none, works, "weight of the router's z loss"),
    real("moe-input-jitter-eps", none, works, "random factor on the router input"),
    flag("moe-per-layer-logging", works, "log balancing losses per layer"),
    text("moe-token-dispatcher-type", "allgather", works, "how tokens travel to their experts")
        .choose("allgather alltoall flex")
        .works_with("alltoall allgather"),
    flag("moe-enable-deepep", later, "tokens travel by the DeepEP library"),
    integer("moe-deepep-num-sms", "20", later, "GPU processors for DeepEP"),
    flag("moe-permute-fusion", neutral, "choice of the permutation kernel"),
    real("moe-expert-capacity-factor", none, works,
         "capacity per expert relative to an even share"),
    flag("moe-pad-expert-input-to-capacity", works, "fill every expert to its capacity"),
    text("moe-token-drop-policy", "probs", works, "which tokens are dropped beyond the capacity")
        .choose("probs position"),
    flag("moe-apply-probs-on-input", works, "weigh tokens before instead of behind the expert"),
    flag("overlap-moe-expert-parallel-comm", works,
         "tokens of one microbatch travel while another one is computed"),
    flag("delay-wgrad-compute", works, "weight gradients wait for that time"),
    integer("moe-upcycling-granularity", "1", works,
            "experts that a dense layer is cut into by upcycling"),
};

}  // namespace mpitron::config::rows
