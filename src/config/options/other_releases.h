#pragma once

#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options of the reference's releases after the one whose parser the other tables are.
inline constexpr std::array kLaterLayers = {
    flag("attention-output-gate", works,
         "a gate from the queries' projection on what attention gives"),
    text("softmax-type", "vanilla", works, "attention's sink: none, a logit of 0, or a learned one")
        .choose("vanilla off-by-one learnable"),
    text("window-size", none, works, "keys left and right of a query that it sees, as 127,0"),
    value("window-attn-skip-freq", Type::frequency, none, works,
          "layers with a window: all but every n-th, or a list (1: window)"),
    flag("quick-geglu", works, "MLPs gated by x sigmoid(1.702 x)"),
    real("activation-func-clamp-value", none, works,
         "limit of a gated activation's two inputs; the gate has no lower one"),
    real("glu-linear-offset", "0.0", works, "added to the linear half of a gated activation"),
    flag_off("no-yarn-correction-range-round-to-int", "yarn_correction_range_round_to_int", works,
             "YaRN's ramp begins and ends between dimensions"),
    flag("moe-shared-expert-gate", works, "weigh the shared expert by a gate of its input"),
    flag("use-mup", works, "learning rates and scales that hold for every width (muP)"),
    integer("mup-base-hidden-size", none, works, "width that rates were found for; own width"),
    real("mup-embedding-mult", "1.0", works, "muP: factor on embeddings"),
    real("mup-output-mult", "1.0", works, "muP: factor on logits; 1.0 stands for base / width"),
    real("mup-base-head-dim", none, works, "muP: head size whose scores keep their size"),
    real("mup-attn-scale-power", "1.0", works, "muP: scores are divided by head size to this"),
    text("hybrid-layer-pattern", none, works, "letters of layers, | between stages, / before MTP"),
    text("experimental-attention-variant", none, works, "layers in place of attention")
        .choose("gated_delta_net dsa"),
    value("linear-attention-freq", Type::frequency, none, works,
          "layers of that kind: all but every n-th, or a list"),
    integer("linear-conv-kernel-dim", "4", works, "gated delta net: width of the convolution"),
    integer("linear-key-head-dim", "128", works, "gated delta net: size of a key head"),
    integer("linear-value-head-dim", "128", works, "gated delta net: size of a value head"),
    integer("linear-num-key-heads", "16", works, "gated delta net: key heads"),
    integer("linear-num-value-heads", "32", works, "gated delta net: value heads"),
};

// Sparse attention (DeepSeek-V3.2) of the reference's 0.19.
inline constexpr std::array kSparseAttention = {
    integer("dsa-indexer-n-heads", none, works, "sparse attention: heads of its indexer"),
    integer("dsa-indexer-head-dim", none, works,
            "sparse attention: size of an indexer's head, a power of two"),
    integer("dsa-indexer-topk", none, works, "sparse attention: keys that a query sees"),
    real("dsa-indexer-loss-coeff", none, works,
         "sparse attention: weight of the loss that trains its indexer; without it nothing does"),
    flag("dsa-indexer-use-sparse-loss", works,
         "sparse attention: that loss looks at chosen keys alone"),
    flag("dsa-indexer-rope-interleaved", works,
         "sparse attention: pairs of an indexer's rotary components are neighbours"),
    flag_off("no-dsa-indexer-rotate-activation", "dsa_indexer_rotate_activation", works,
             "sparse attention: no Hadamard matrix turns an indexer's queries and keys"),
    real("dsa-indexer-k-norm-epsilon", none, works,
         "sparse attention: epsilon of the norm of an indexer's keys; --norm-epsilon"),
    flag("dsa-indexer-k-norm-fp32", neutral,
         "sparse attention: that norm in fp32, as all norms here are"),
    flag_off("no-dsa-indexer-scoring-relu", "dsa_indexer_scoring_relu", later,
             "sparse attention: an indexer's scores may be below 0"),
    integer("dsa-indexer-topk-freq", "1", later,
            "sparse attention: layers that share what one of them has chosen"),
    integer("dsa-indexer-skip-topk-offset", "0", later,
            "sparse attention: the first layer that takes another's choice"),
    text("dsa-kernel-backend", "none", neutral, "sparse attention: kernels of other libraries")
        .choose("none tilelang cudnn"),
};

// What Gemma and its relatives have; names are those of the reference's bridge to Hugging Face and
// of forks of it, where these have one.
inline constexpr std::array kGemmaLayers = {
    flag("geglu", works, "MLPs gated by a GELU (its tanh approximation)"),
    flag("post-self-attn-layernorm", works, "a norm behind attention, in front of the sum, too"),
    flag("post-mlp-layernorm", works, "a norm behind the MLP, in front of the sum, too"),
    flag("scale-embeddings", works, "embeddings times the root of the hidden size"),
    integer("rotary-base-local", none, works,
            "base theta in layers with a window, whose frequencies nothing stretches"),
    real("query-pre-attn-scalar", none, works,
         "scores are divided by the root of this, not of the head size"),
    flag("qk-l2-norm-with-rope-only", works,
         "--qk-l2-norm: in layers that rotate alone (--no-rope-freq)"),
    real("rope-scaling-high-freq-factor", "4.0", works,
         "--use-rope-scaling: waves shorter than 8192 over this stay as they are"),
    real("attn-logit-softcapping", none, works, "bound of attention's scores, by a tanh"),
    real("final-logit-softcapping", none, works, "bound of the output layer's logits, by a tanh"),
};

// What Llama 4's layers have beside others.
inline constexpr std::array kLlama4Layers = {
    integer("attention-chunk-size", none, works,
            "layers that rotate: a query sees keys of its own chunk of so many positions"),
    integer("query-scale-floor", none, works,
            "layers that do not rotate: from this position on, less 1, queries grow"),
    real("query-scale-growth", "0.1", works,
         "they grow by this times ln(1 + floor((position + 1) / floor))"),
};

// Optimizers, losses and data of later releases.
inline constexpr std::array kLaterTraining = {
    real("muon-momentum", "0.9", works, "Muon: weight of the old average of gradients"),
    flag("muon-nesterov", works, "Muon: look one step of momentum ahead"),
    flag_off("muon-no-split-qkv", "muon_split_qkv", works,
             "Muon: take queries, keys and values as one matrix"),
    integer("muon-num-ns-steps", "5", works, "Muon: steps of the Newton-Schulz iteration"),
    text("muon-coefficient-type", "quintic", works, "Muon: coefficients of these steps")
        .choose("simple quintic polar_express cans aol"),
    text("muon-scale-mode", "spectral", works, "Muon: how an update grows with its matrix")
        .choose("spectral unit_rms_norm shape_scaling"),
    real("muon-extra-scale-factor", "1.0", works, "Muon: factor on updates"),
    text("muon-fp32-matmul-prec", "medium", works, "Muon: products in bf16 (medium) or fp32")
        .choose("low medium high")
        .works_with("medium high"),
    text("muon-tp-mode", "duplicated", works,
         "Muon: whole matrices, or each tensor rank's piece alone (blockwise)")
        .choose("blockwise duplicated distributed"),
    text("muon-scalar-optimizer", "adam", works, "Muon: rule of all other parameters")
        .choose("adam lion"),
    text("adaptive-muon-moment2-method", "adamuon", works,
         "adaptive Muon: averages of squares of each element, or of rows or columns (normuon)")
        .choose("adamuon normuon"),
    real("adaptive-muon-beta2", "0.95", works, "adaptive Muon: weight of the old average"),
    real("adaptive-muon-eps", "1e-8", works, "adaptive Muon: beside the root of an average"),
    real("soap-shampoo-beta", "0.95", works, "SOAP: weight of the old average of Gram matrices"),
    integer("soap-precondition-frequency", "1", works, "SOAP: updates from one basis to the next"),
    flag_off("soap-no-kl-shampoo", "soap_use_kl_shampoo", works,
             "SOAP: average Gram matrices as they are, not over the other side's eigenvalues"),
    real("lion-beta1", "0.95", works, "Lion beside Muon: weight of the average in a step"),
    real("lion-beta2", "0.98", works, "Lion beside Muon: weight of the old average in the new"),
    flag("qk-clip", works, "after an update shrink query and key rows of heads with large scores"),
    real("qk-clip-alpha", "0.5", works, "share of that factor that queries take"),
    real("qk-clip-threshold", "100", works, "score from which --qk-clip acts"),
    flag("log-max-attention-logit", works, "log the largest attention score"),
    flag("dataloader-inter-document-masking", works,
         "positions begin anew with each document, whose tokens see only their own"),
    flag("fim-data", works, "fill in the middle: cut texts in three and tell the middle last"),
    real("fim-rate", "0.5", works, "share of the texts that are cut"),
    real("fim-spm-rate", "0.5", works, "share of those whose suffix comes before the prefix"),
    text("fim-split-sample", none, works, "token between fragments, each cut by itself"),
    real("fim-fragment-rate", none, works, "share of the fragments that are cut"),
    text("fim-no-prefix", none, works, "texts that begin with this stay as they are"),
    text("fim-prefix-token", "<fim_prefix>", works, "token in front of a prefix"),
    text("fim-middle-token", "<fim_middle>", works, "token in front of a middle"),
    text("fim-suffix-token", "<fim_suffix>", works, "token in front of a suffix"),
    text("fim-pad-token", "<fim_pad>", works, "token that fills a sample up"),
    text("fim-eod-token", "<|endoftext|>", works, "token at which a sample is divided into texts"),
    text("mamba-inference-conv-states-dtype", none, unneeded,
         "`generate`, `serve`, ...: type of a convolution's state, else the model's")
        .choose("bf16 fp16 fp32"),
    text("mamba-inference-ssm-states-dtype", none, unneeded,
         "`generate`, `serve`, ...: type of a recurrence's state, else fp32")
        .choose("bf16 fp16 fp32"),
    text("step-batch-size-schedule", none, works,
         "batch sizes by tokens, as \"0:768 250B:1536\", in place of --global-batch-size"),
};

// Names of older releases that scripts still carry; the reference's parser no longer knows them.
inline constexpr std::array kOlderNames = {
    integer("encoder-pipeline-model-parallel-size", "0", refused,
            "pipeline stages of a T5 encoder"),
    integer("pipeline-model-parallel-split-rank", none, refused,
            "first pipeline rank of a T5 decoder"),
    flag("standalone-embedding-stage", refused, "pipeline stage of the embedding alone")
        .use("--pipeline-model-parallel-layout"),
    flag("delay-param-gather", deprecated, "is the default now"),
    flag("no-query-key-layer-scaling", deprecated, "is the default now"),
    text("DDP-impl", "local", unneeded,
         "there is one data parallelism, which computes what both do")
        .choose("local torch"),
    text("activations-checkpoint-method", none, deprecated, "how whole layers are recomputed")
        .choose("uniform block")
        .use("--recompute-granularity full --recompute-method"),
    integer("activations-checkpoint-num-layers", none, deprecated, "in pieces of so many layers")
        .use("--recompute-num-layers"),
};

}  // namespace mpitron::config::rows
