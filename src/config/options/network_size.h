#pragma once

#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on the model's sizes and layers, the group `network size` of Megatron's arguments.py.
inline constexpr std::array kNetworkSize = {
    integer("num-layers", none, works, "number of transformer layers"),
    integer("encoder-num-layers", none, works,
            "other name of --num-layers, for encoders; give only one of the two"),
    integer("decoder-num-layers", none, works,
            "layers of the T5 decoder: as many as the encoder's"),
    integer("hidden-size", none, works, "width h of the residual stream"),
    integer("ffn-hidden-size", none, works,
            "inner width of the MLP; 4h, or with --swiglu 8h/3 rounded down to a multiple of 64"),
    integer("num-attention-heads", none, works, "number of query heads"),
    text("attention-backend", "auto", works,
         "preferred attention kernel; all of them compute the same")
        .choose("flash fused unfused local auto"),
    integer("kv-channels", none, works, "head dimension d; hidden size / heads"),
    flag("group-query-attention", works,
         "several query heads share one key/value head, see --num-query-groups"),
    integer("num-query-groups", "1", works,
            "key/value heads; counts only with --group-query-attention"),
    integer("max-position-embeddings", none, works,
            "longest sequence the model can take; rows of the learned position table"),
    text("position-embedding-type", "learned_absolute", works,
         "how positions enter: learned table, rotary, or not at all")
        .choose("learned_absolute rope mrope relative none"),
    integer("relative-attention-num-buckets", "32", works,
            "T5: number of relative distance buckets"),
    integer("relative-attention-max-distance", "128", works,
            "T5: distance from which all pairs share the last bucket"),
    flag("use-rotary-position-embeddings", deprecated, "old switch for rotary positions")
        .use("--position-embedding-type rope"),
    integer("rotary-base", "10000", works, "base theta of the rotary frequencies"),
    real("rotary-percent", "1.0", works,
         "share of each head's dimensions that is rotated; the rest passes through"),
    flag("rotary-interleaved", works,
         "rotate neighbouring pairs instead of the two halves of a head"),
    integer("rotary-seq-len-interpolation-factor", none, works,
            "divide positions by this factor to stretch a trained context"),
    flag("use-rope-scaling", works, "stretch low rotary frequencies as Llama 3.1 does"),
    real("rope-scaling-factor", "8.0", works, "stretching factor of --use-rope-scaling"),
    value("no-rope-freq", Type::frequency, none, works,
          "layers without rotation: every n-th (n), or a list such as ([0]*3+[1])*2"),
    flag_off("no-position-embedding", "add_position_embedding", deprecated,
             "old switch that removes the learned position table")
        .use("--position-embedding-type none"),
    integer("mrope-section", none, works, "multimodal rotary: frequencies for time, height, width")
        .list(),
    integer("make-vocab-size-divisible-by", "128", works,
            "pad the vocabulary to a multiple of this times the tensor-parallel size"),
    text("normalization", "LayerNorm", works, "kind of norm in every layer")
        .choose("LayerNorm RMSNorm"),
    real("norm-epsilon", "1e-05", works, "added to the variance inside the square root of a norm"),
    flag("apply-layernorm-1p", works,
         "store norm weights minus one, so that weight decay pulls towards one"),
    flag("apply-residual-connection-post-layernorm", later,
         "take the residual behind the norm (original BERT)"),
    flag("openai-gelu", works, "tanh approximation of GELU, also without bias"),
    flag("squared-relu", works, "relu(x)^2 in the MLP"),
    flag("swiglu", works, "gated SiLU in the MLP; the first projection is twice as wide"),
    value("onnx-safe", Type::boolean, none, unneeded,
          "work-around for the exporter of another framework"),
    flag_off("bert-no-binary-head", "bert_binary_head", works,
             "BERT: no sentence-order head and loss"),
    flag("untie-embeddings-and-output-weights", works,
         "give the output projection a matrix of its own"),
    flag("multi-latent-attention", works,
         "multi-head latent attention with compressed keys and values"),
    integer("mtp-num-layers", none, works, "number of multi-token prediction depths"),
    real("mtp-loss-scaling-factor", "0.1", works, "weight of the mean multi-token prediction loss"),
};

// Options on latent attention, the group `mla`.
inline constexpr std::array kMla = {
    integer("q-lora-rank", none, works, "rank of the compressed queries; none: direct projection"),
    integer("kv-lora-rank", "32", works, "rank of the compressed keys and values"),
    integer("qk-head-dim", "128", works, "part of a query/key head without positions"),
    integer("qk-pos-emb-head-dim", "64", works, "part of a query/key head with rotary positions"),
    integer("v-head-dim", "128", works, "dimension of a value head"),
    real("rotary-scaling-factor", "1.0", works, "stretching factor of YaRN"),
    real("mscale", "1.0", works, "numerator of YaRN's attention factor"),
    real("mscale-all-dim", "0.0", works, "denominator of YaRN's attention factor"),
    flag("cache-mla-latents", later, "cache the compressed keys and values when generating"),
};

}  // namespace mpitron::config::rows
