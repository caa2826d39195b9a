#include "cli/generation/loaded_model.h"

#include <unistd.h>

#include "cli/generation/cache_size.h"
#include "convert/model_logits.h"
#include "inference/engine_choice.h"
#include "models/make_model.h"
#include "pipeline/stage_layout.h"
#include "tokenizers/hugging_face/huggingface_tokenizer.h"

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

comm::RankGrid grid_of(const ModelOptions& options, Index ranks) {
  return comm::RankGrid(ranks, {.tensor = options.tensor,
                                .context = options.context,
                                .pipeline = options.pipeline,
                                .expert = options.expert,
                                .expert_tensor = options.expert_tensor});
}

/// As generation runs it: nothing is dropped, by chance or because others take the room.
config::ModelConfig config_of(const ModelOptions& options, config::ModelConfig config) {
  const bool learned =
      config.position_embedding_type == config::PositionEmbedding::learned_absolute;
  if (options.max_length > config.max_position_embeddings && learned) {
    throw_usage("--inference-max-seq-length {}: the model has {} positions", options.max_length,
                config.max_position_embeddings);
  }
  if (options.max_length > 0) {
    config.max_position_embeddings = learned ? config.max_position_embeddings : options.max_length;
  }
  if (config.kind == config::ModelKind::gpt) {
    config.seq_length = config.max_position_embeddings;
  }
  config.attention_dropout = config.hidden_dropout = 0;
  if (config.moe) {
    config.moe->capacity_factor.reset();
    config.moe->input_jitter_eps.reset();
  }
  return config;
}

void check_numbers(const ModelOptions& options) {
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
  if (options.draft_tokens < 0 || options.draft_tokens > 64) {
    throw_usage("--num-speculative-tokens {}: allowed are 0 to 64", options.draft_tokens);
  }
}

/// What a model of this kind cannot be cut into.
void check_layout(const ModelOptions& options, const config::ModelConfig& config, Index ranks) {
  if (ranks == 1) {
    return;
  }
  if (const std::string missing = inference::no_cached_path(config); !missing.empty()) {
    throw_usage("--load {}: several ranks generate with a cache, and {}", options.load, missing);
  }
  if (config.kind == config::ModelKind::t5 && (options.pipeline > 1 || options.context > 1)) {
    throw_usage("--load {}: an encoder with a decoder is cut by --tensor-model-parallel-size alone",
                options.load);
  }
}

}  // namespace

void ModelOptions::declare(Flags& flags) {
  flags.option("--load", load, "a checkpoint of mpitron or Megatron, or a Hugging Face folder");
  flags.required();
  add_tokenizer_options(flags, tokenizer);
  flags.option("--inference-max-requests", max_requests, "answers in the batch at once");
  flags.option("--max-batch-size", max_requests, "other name of --inference-max-requests");
  flags.option("--inference-max-seq-length", max_length,
               "longest prompt with its answer; 0: the model's positions");
  flags.option("--inference-dynamic-batching-block-size", block_size,
               "tokens of a cache block, a power of two from 8");
  flags.option("--inference-dynamic-batching-buffer-size-gb", cache_gigabytes,
               "memory of the cache on each rank; 0: what --inference-max-requests answers need, "
               "at most 90 % of what the weights leave");
  flags.option("--inference-dynamic-batching-max-tokens-override", max_tokens,
               "tokens of all answers in one step");
  flags.option("--inference-dynamic-batching-prefix-caching", prefix_cache,
               "whether prompts that begin alike share what is computed for them");
  flags.choices({"on", "off"});
  flags.option("--num-speculative-tokens", draft_tokens,
               "most tokens of an answer that are drafted, from what repeats in its text or by "
               "depths of multi-token prediction; drafts never change the text");
  flags.option("--inference-weights", weights,
               "what products read weights in: int8 has a scale for each output, q4 4 bits and a "
               "scale for 32 inputs; auto: the model's type");
  flags.choices({"auto", "fp32", "bf16", "fp16", "int8", "q4"});
  flags.option("--tensor-model-parallel-size", tensor, "ranks that share each layer");
  flags.option("--pipeline-model-parallel-size", pipeline, "stages of layers");
  flags.option("--context-parallel-size", context, "ranks that share each text and its cache");
  flags.option("--expert-model-parallel-size", expert, "ranks that share the experts of a layer");
  flags.option("--expert-tensor-parallel-size", expert_tensor,
               "ranks that share each expert; 0: as --tensor-model-parallel-size");
  flags.option("--distributed-timeout-minutes", timeout_minutes,
               "a rank that lets others wait for so long ends the job");
}

LoadedModel::LoadedModel(const ModelOptions& options, std::shared_ptr<comm::World> world)
    : name(std::filesystem::path(options.load).lexically_normal().filename()),
      world_(std::move(world)),
      grid_(grid_of(options, world_->size())),
      groups_(comm::make_parallel_groups(*world_, grid_)) {
  check_numbers(options);
  read_model(options);
  shape_ = engine_shape(options);
  if (world_->size() == 1) {
    engine = inference::make_engine(*device_, *model_, shape_, tokenizer->vocab_size());
  } else if (leads()) {
    engine = std::make_unique<inference::RankEngine>(
        *device_, *model_, inference::RankPlace::of(*world_, groups_, grid_), grid_, shape_);
  }
  read_chat_template();
}

void LoadedModel::follow() {
  inference::RankEngine::follow(*device_, *model_,
                                inference::RankPlace::of(*world_, groups_, grid_), shape_);
}

void LoadedModel::read_model(const ModelOptions& options) {
  convert::ModelReader reader(options.load, {.format = convert::detect_format(options.load)});
  const config::ModelConfig config = config_of(options, reader.description().model);
  if (config.kind != config::ModelKind::gpt && config.kind != config::ModelKind::t5) {
    throw_usage("--load {}: only models with a decoder generate", options.load);
  }
  check_layout(options, config, world_->size());
  tokenizer = tokenizer_of(options);
  if (tokenizer->vocab_size() > reader.description().stored_vocab_size()) {
    throw_usage("the tokenizer has {} ids, the model of --load {} has {}: choose its own tokenizer",
                tokenizer->vocab_size(), options.load, reader.description().stored_vocab_size());
  }
  device_ = device::make_device("host", world_->make_allocator());
  config::ParallelConfig parallel;
  parallel.pipeline_model_parallel_size = options.pipeline;
  const auto stage = grid_.dense().coordinate(world_->rank(), comm::Axis::pipeline);
  const pipeline::ChunkLayers layers =
      pipeline::make_stage_layout(parallel, config.all_layers(), config.mtp_num_layers.value_or(0))
          .layers(stage, 0);
  model_ = models::make_model(
      config, *device_,
      {.groups = groups_,
       .part = {.first_layer = layers.first,
                .num_layers = layers.count,
                .has_embedding = layers.has_embedding,
                .has_output = layers.has_loss,
                .prediction_depths = options.draft_tokens > 0 ? layers.mtp_count : 0}});
  model_->initialize();
  convert::load_values(*model_, reader.ours());
}

inference::EngineShape LoadedModel::engine_shape(const ModelOptions& options) const {
  const CacheSize cache{.config = model_->config(),
                        .layers = model_->part().num_layers,
                        .block_size = options.block_size,
                        .tensor_ranks = options.tensor,
                        .context_ranks = options.context};
  return {.block_size = options.block_size,
          .blocks = cache.blocks(options.max_requests, options.cache_gigabytes),
          .slots = options.max_requests,
          .max_step_tokens = options.max_tokens,
          .own_drafts = options.draft_tokens,
          .vocabulary = tokenizer->vocab_size(),
          .weights = kernels::weight_format(options.weights)};
}

void LoadedModel::read_chat_template() {
  const auto* text = dynamic_cast<const tokenizers::HuggingFaceTokenizer*>(tokenizer.get());
  if (text == nullptr) {
    return;
  }
  chat_template = text->chat_template();
  const auto token = [&](std::optional<tokenizers::TokenId> id) {
    return id ? text->token(*id) : std::string();
  };
  const bool adds_bos = !text->prefix().empty();
  chat_prompt = inference::chat_prompt(
      chat_template, adds_bos ? "" : token(text->special_ids().bos), token(text->eod()));
}

}  // namespace mpitron::cli
