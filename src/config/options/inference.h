#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options on generation that Megatron's training parser knows. `mpitron generate` and `serve`
// declare their own of the same names; here most are refused by name.
inline constexpr std::array kInference = {
    integer("inference-batch-times-seqlen-threshold", "-1", later,
            "batch size x length from which prefill is pipelined"),
    integer("max-tokens-to-oom", "12000", later, "largest number of tokens a request may ask for"),
    flag("output-bert-embeddings", later, "mean embeddings instead of predictions"),
    text("bert-embedder-type", "megatron", later, "whose BERT computes embeddings")
        .choose("megatron huggingface"),
    flag("flash-decode", later, "decoding kernel with the rotation inside"),
    flag("enable-cuda-graph", works, "record forward and backward of a step on a GPU, replay them"),
    integer("cuda-graph-warmup-steps", "3", works, "steps before recording"),
    flag("external-cuda-graph", later, "capture around the whole step"),
    text("cuda-graph-scope", "full", works, "what is recorded: full_iteration so far")
        .choose("full attn full_iteration"),
    integer("inference-max-requests", "8", later, "largest batch of requests")
        .stored_as("inference_max_batch_size"),
    integer("inference-max-seq-length", "2560", later, "prompt plus generated tokens"),
    flag("inference-dynamic-batching", later, "requests join and leave the batch at any step"),
    real("inference-dynamic-batching-buffer-size-gb", "40.0", later,
         "memory for cached keys and values"),
    integer("inference-dynamic-batching-chunk-size", "256", later,
            "tokens per block of that memory"),
    real("inference-dynamic-batching-buffer-guaranteed-fraction", "0.2", later,
         "share kept so that running requests can finish"),
    real("inference-dynamic-batching-buffer-overflow-factor", none, later,
         "how far requests may exceed that memory"),
    integer("inference-dynamic-batching-max-requests-override", none, later,
            "limit of concurrent requests"),
    integer("inference-dynamic-batching-max-tokens-override", none, later,
            "limit of concurrent tokens"),
    integer("inference-dynamic-batching-num-cuda-graphs", "16", later, "captured batch sizes"),
    text("symmetric-ar-type", none, later, "all-reduce in symmetric GPU memory")
        .choose("two_shot one_shot multimem_all_reduce None"),
    flag("nccl-all-reduce-for-prefill", later, "NCCL for the all-reduce of prefill"),
    integer("mlp-chunks-for-prefill", "1", later, "pieces the MLP takes a prompt in"),
};

}  // namespace mpitron::config::rows
