#include "cli/generation/loaded_model.h"

#include "convert/model_logits.h"
#include "convert/model_reader.h"

namespace mpitron::cli {
namespace {

std::unique_ptr<tokenizers::Tokenizer> tokenizer_of(const ModelOptions& options) {
  tokenizers::TokenizerOptions chosen = options.tokenizer;
  if (chosen.type.empty()) {
    if (!std::filesystem::exists(std::filesystem::path(options.load) / "tokenizer.json")) {
      throw_usage("--tokenizer-type is missing: {} holds no tokenizer.json", options.load);
    }
    chosen.type = "HuggingFaceTokenizer";
    chosen.tokenizer_model = options.load;
  }
  return tokenizers::make_tokenizer(chosen);
}

/// Absent: the model's.
std::optional<DType> weights_of(const ModelOptions& options) {
  const std::string& name = options.weights;
  return name == "fp32"   ? std::optional(DType::f32)
         : name == "bf16" ? std::optional(DType::bf16)
         : name == "fp16" ? std::optional(DType::f16)
                          : std::nullopt;
}

}  // namespace

void ModelOptions::declare(Flags& flags) {
  flags.option("--load", load, "a checkpoint of mpitron or Megatron, or a Hugging Face folder");
  flags.required();
  add_tokenizer_options(flags, tokenizer);
  flags.option("--inference-max-requests", max_requests, "answers in the batch at once");
  flags.option("--max-batch-size", max_requests, "other name of --inference-max-requests");
  flags.option("--inference-dynamic-batching-block-size", block_size,
               "tokens of a cache block, a power of two from 8");
  flags.option("--inference-dynamic-batching-max-tokens-override", max_tokens,
               "tokens of all answers in one step");
  flags.option("--inference-weights", weights,
               "type that the weights are read in; auto: the model's");
  flags.choices({"auto", "fp32", "bf16", "fp16"});
}

LoadedModel::LoadedModel(const ModelOptions& options)
    : name(std::filesystem::path(options.load).lexically_normal().filename()) {
  const Index size = options.block_size;
  if (size < 8 || (size & (size - 1)) != 0) {
    throw_usage("--inference-dynamic-batching-block-size {}: allowed are powers of two from 8",
                size);
  }
  if (options.max_requests < 1 || options.max_requests > 4096 ||
      options.max_tokens < options.max_requests) {
    throw_usage(
        "--inference-max-requests {} with {} tokens a step: allowed are 1 to 4096 requests "
        "and at least one token for each",
        options.max_requests, options.max_tokens);
  }
  convert::ModelReader reader(options.load, {.format = convert::detect_format(options.load)});
  config::ModelConfig config = reader.description().model;
  if (!config.family().decoder_only) {
    throw_usage("--load {}: only GPT models generate; BERT and T5 do not", options.load);
  }
  config.seq_length = config.max_position_embeddings;
  config.attention_dropout = config.hidden_dropout = 0;
  if (config.moe) {  // what is dropped would depend on the batch
    config.moe->capacity_factor.reset();
    config.moe->input_jitter_eps.reset();
  }
  tokenizer = tokenizer_of(options);
  if (tokenizer->vocab_size() > reader.description().stored_vocab_size()) {
    throw_usage("the tokenizer has {} ids, the model of --load {} has {}: choose its own tokenizer",
                tokenizer->vocab_size(), options.load, reader.description().stored_vocab_size());
  }
  device = device::make_device("host");
  model = convert::load_model(config, *device, reader.ours());
  const Index blocks = (config.max_position_embeddings + size - 1) / size * options.max_requests;
  engine = inference::make_engine(*device, *model,
                                  {.block_size = size,
                                   .blocks = blocks,
                                   .slots = options.max_requests,
                                   .max_step_tokens = options.max_tokens,
                                   .weights = weights_of(options)},
                                  tokenizer->vocab_size());
}

}  // namespace mpitron::cli
