#include "cli/generation/loaded_model.h"

// Flags of the commands that load a model.

namespace mpitron::cli {

void ModelOptions::declare(Flags& flags) {
  flags.option("--load", load, "a checkpoint of mpitron or Megatron, or a Hugging Face folder");
  flags.required();
  add_tokenizer_options(flags, tokenizer);
  flags.option("--inference-max-requests", max_requests, "answers in the batch at once");
  flags.option("--max-batch-size", max_requests, "other name of --inference-max-requests");
  flags.option("--inference-max-seq-length", max_length,
               "longest prompt with its answer; 0: the model's positions");
  flags.option("--inference-dynamic-batching-block-size", block_size,
               "tokens of a cache block, a power of two from 8; 0: 16, on a GPU 64");
  flags.option("--inference-dynamic-batching-buffer-size-gb", cache_gigabytes,
               "memory of the cache on each rank; 0: what --inference-max-requests answers need, "
               "at most 90 % of what the weights leave");
  flags.option("--inference-dynamic-batching-max-tokens-override", max_tokens,
               "tokens of all answers in one step; 0: 512, on a GPU 2048");
  flags.option("--inference-dynamic-batching-prefix-caching", prefix_cache,
               "whether prompts that begin alike share what is computed for them");
  flags.choices({"on", "off"});
  flags.option("--inference-state-snapshots", snapshots,
               "beginnings of texts whose states are kept for prompts that begin alike, of models "
               "with Mamba or delta-net layers; -1: four for each of --inference-max-requests, at "
               "most a quarter of the cache's memory");
  flags.option("--num-speculative-tokens", draft_tokens,
               "most tokens of an answer that are drafted, from what repeats in its text or by "
               "depths of multi-token prediction; drafts never change the text");
  flags.option("--inference-weights", weights,
               "what products read weights in: int8 has a scale for each output, q4 4 bits and a "
               "scale for 32 inputs; auto: the model's type");
  flags.choices({"auto", "fp32", "bf16", "fp16", "int8", "q4"});
  types.declare(flags);
  flags.flag(
      "--enable-cuda-graph", graphs,
      "steps in which every answer goes on by one token are recorded on the GPU and replayed "
      "with one launch");
  layout.declare(flags);
}

void ModelOptions::declare_adapters(Flags& flags, const std::string& which) {
  flags.option("--adapter", adapters,
               "a folder of PEFT (LoRA), also NAME=FOLDER: updates of the model " + which);
}

}  // namespace mpitron::cli
