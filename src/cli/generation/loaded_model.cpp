#include "cli/generation/loaded_model.h"

#include <algorithm>

#include "autograd/cached_pass.h"
#include "cli/generation/adapter_folder.h"
#include "cli/generation/model_tokenizer.h"
#include "convert/model_logits.h"
#include "convert/model_reader.h"
#include "device/free_memory.h"
#include "inference/engine_choice.h"
#include "models/make_model.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"

// From --load to an engine that generates: the checkpoint of any known format, its configuration
// made fit for generation, its tokenizer, adapters, and a cache as large as options or memory
// allow. Each rank reads its own part of the weights.

namespace mpitron::cli {
namespace {

/// Makes a training configuration one of generation: no dropout, no noise on the router's input,
/// no capacity of experts, which would let a token depend on its neighbours in the batch, and
/// experts whose tokens travel one by one. Learned positions cannot be extended: Error(usage);
/// others take --inference-max-seq-length.
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
  if (config.family().decoder_only) {
    config.seq_length = config.max_position_embeddings;
  }
  config.attention_dropout = config.hidden_dropout = 0;
  if (config.moe) {
    config.moe->capacity_factor.reset();
    config.moe->input_jitter_eps.reset();
    // Replicas that share experts have steps of different sizes, which an all-gather cannot join.
    config.moe->dispatcher = config::TokenDispatcherType::alltoall;
  }
  return config;
}

/// Throws Error(usage) before any weight is read.
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
  if (options.snapshots < -1 || options.snapshots > 65536) {
    throw_usage("--inference-state-snapshots {}: allowed are -1 (as many as usual) to 65536",
                options.snapshots);
  }
  if (options.draft_tokens < 0 || options.draft_tokens > 64) {
    throw_usage("--num-speculative-tokens {}: allowed are 0 to 64", options.draft_tokens);
  }
}

/// Whether products read weights of 8 or 4 bits.
bool in_integers(const ModelOptions& options) {
  const auto format = kernels::weight_format(options.weights);
  return format && kernels::facts(*format).group > 0;
}

/// A chunk of a model that attends within chunks begins with a block.
void check_blocks(const ModelOptions& options, const config::ModelConfig& config) {
  const Index chunk = config.attention_chunk_size.value_or(0);
  if (chunk % options.block_size != 0 && inference::no_cached_path(config).empty()) {
    throw_usage(
        "--inference-dynamic-batching-block-size {}: whole blocks fill the chunks of {} positions "
        "within which the model attends; give {} or less",
        options.block_size, chunk, chunk & -chunk);
  }
}

/// An engine without a cache has nothing that could be kept in another type.
void check_cache(const CacheTypes& types, const config::ModelConfig& config, bool on_host) {
  if (const std::string missing = inference::no_cached_path(config); !missing.empty()) {
    types.refuse(fmt::format("the model runs without a cache ({})", missing));
  }
  types.refuse_states(inference::no_state_types(config, on_host));
}

}  // namespace

/// Order: names of adapters are checked first, since they cost nothing; the cache comes last, since
/// it takes what the weights leave.
LoadedModel::LoadedModel(const ModelOptions& given, std::shared_ptr<comm::World> world)
    : name(given.name.empty()
               ? std::filesystem::path(given.load).lexically_normal().filename().string()
               : given.name),
      ranks_(given.layout, std::move(world)) {
  const ModelOptions options = for_device(given);
  check_numbers(options);
  const std::vector<AdapterFolder> folders = adapter_folders(options.adapters, name);
  read_model(options);
  for (const AdapterFolder& each : folders) {
    adapters_.push_back(
        {.name = each.name, .folder = each.folder, .adapter = read_adapter(each.folder)});
  }
  shape_ = engine_shape(options);
  engine = ranks_.engine(*model_, shape_, handles());
}

std::shared_ptr<const tokenizers::ChatTemplate> LoadedModel::chat_template(
    const std::string& file) const {
  const auto* text = dynamic_cast<const tokenizers::HuggingFaceTokenizer*>(tokenizer.get());
  if (!file.empty()) {
    return std::make_shared<const tokenizers::ChatTemplate>(
        read_file(file), text != nullptr ? tokenizers::ChatTemplate::tokens_of(*text)
                                         : tokenizers::ChatTemplate::SpecialTokens());
  }
  auto chat = text != nullptr ? tokenizers::ChatTemplate::of(*text) : std::nullopt;
  return chat ? std::make_shared<const tokenizers::ChatTemplate>(*std::move(chat)) : nullptr;
}

void LoadedModel::read_model(const ModelOptions& options) {
  convert::ModelReader reader(options.load, {.format = convert::detect_format(options.load)});
  const config::ModelConfig config = config_of(options, reader.description().model);
  if (!config.family().generates()) {
    throw_usage("--load {}: a {} does not generate, only models with a decoder do", options.load,
                config.family().title);
  }
  ranks_.check(config, "--load " + options.load);
  tokenizer = model_tokenizer(options.load, options.tokenizer, reader.description().tokenizer);
  if (tokenizer->vocab_size() > reader.description().stored_vocab_size()) {
    throw_usage("the tokenizer has {} ids, the model of --load {} has {}: choose its own tokenizer",
                tokenizer->vocab_size(), options.load, reader.description().stored_vocab_size());
  }
  check_blocks(options, config);
  check_cache(options.types, config, !ranks_.on_gpu());
  check_device(options, config);
  model_ =
      models::make_model(config, ranks_.device(), ranks_.share(config, options.draft_tokens > 0));
  if (ranks_.on_gpu() && in_integers(options)) {
    return load_packed(options, reader.ours());
  }
  model_->allocate();
  convert::load_values(ranks_.device(), *model_, reader.ours());
}

/// The device has the numbers of one weight at a time, so that a model fits whose numbers do not.
void LoadedModel::load_packed(const ModelOptions& options, convert::TensorSource& ours) {
  packed_ = std::make_unique<autograd::PackedWeights>(ranks_.device(),
                                                      *kernels::weight_format(options.weights));
  convert::load_values(ranks_.device(), *model_, ours, [&](autograd::Parameter& parameter) {
    if (inference::in_products_alone(parameter)) {
      packed_->take(parameter);
    }
  });
}

ModelOptions LoadedModel::for_device(ModelOptions options) const {
  const bool on_gpu = ranks_.on_gpu();
  options.block_size = options.block_size != 0 ? options.block_size : on_gpu ? 64 : 16;
  options.max_tokens = options.max_tokens != 0 ? options.max_tokens : on_gpu ? 2048 : 512;
  return options;
}

/// On a GPU products read the parameters as they are, or packed as integers, where a cache is kept.
/// Graphs are the GPU's, of steps that one rank makes alone.
void LoadedModel::check_device(const ModelOptions& options,
                               const config::ModelConfig& config) const {
  const auto format = kernels::weight_format(options.weights);
  const auto own = kernels::weight_format(config.params_dtype);
  if (ranks_.on_gpu() && format && *format != own && !in_integers(options)) {
    throw_usage(
        "--inference-weights {}: on a GPU products read the weights of --load in their own "
        "type, {}, or in int8 or q4; give --inference-weights auto, int8 or q4, or --device host",
        options.weights, kernels::facts(own).name);
  }
  if (const std::string missing = inference::no_cached_path(config);
      ranks_.on_gpu() && in_integers(options) && !missing.empty()) {
    throw_usage(
        "--inference-weights {}: on a GPU this is of models with a cache, and {}; leave it "
        "out",
        options.weights, missing);
  }
  if (!options.graphs) {
    return;
  }
  const std::string missing = !ranks_.on_gpu()            ? "the model lies on the host"
                              : ranks_.world().size() > 1 ? "several ranks make a step"
                              : options.draft_tokens > 0  ? "--num-speculative-tokens is given"
                                                          : inference::no_recorded_steps(config);
  if (!missing.empty()) {
    throw_usage("--enable-cuda-graph: {}; leave it out", missing);
  }
}

/// Tells the user of the memory that they take.
Index LoadedModel::snapshots(const ModelOptions& options, const CacheSize& cache) const {
  if (inference::states_for(config(), options.max_requests) == 0 || options.prefix_cache == "off") {
    return 0;
  }
  const Index usual = cache.usual_snapshots(options.max_requests, options.cache_gigabytes);
  const auto count = static_cast<Index>(ranks_.world().all()->reduce(
      static_cast<double>(options.snapshots >= 0 ? options.snapshots : usual),
      comm::Reduction::minimum));
  log::info(
      "states of up to {} beginnings of texts are kept in {:.1f} MB of the first rank "
      "(--inference-state-snapshots)",
      count, static_cast<double>(count * cache.snapshot_bytes()) / (1 << 20));
  return count;
}

/// All ranks have as many blocks as the one that has the least memory left.
inference::EngineShape LoadedModel::engine_shape(const ModelOptions& options) const {
  CacheSize cache{.config = model_->config(),
                  .first_layer = model_->part().first_layer,
                  .layers = model_->part().num_layers,
                  .block_size = options.block_size,
                  .tensor_ranks = options.layout.tensor,
                  .context_ranks = options.layout.context,
                  .cache = options.types.cache(),
                  .states = options.types.states(),
                  .free_memory = device::free_memory(ranks_.device())};
  cache.snapshots = snapshots(options, cache);
  const Index blocks = cache.blocks(options.max_requests, options.cache_gigabytes);
  return {.block_size = options.block_size,
          .blocks = static_cast<Index>(
              ranks_.world().all()->reduce(static_cast<double>(blocks), comm::Reduction::minimum)),
          .slots = options.max_requests,
          .states = inference::states_for(model_->config(), options.max_requests),
          .snapshots = cache.snapshots,
          .max_step_tokens = options.max_tokens,
          .own_drafts = options.draft_tokens,
          .vocabulary = tokenizer->vocab_size(),
          .weights = kernels::weight_format(options.weights),
          .cache = options.types.cache(),
          .state_types = options.types.states(),
          .packed = packed_.get(),
          .graphs = options.graphs};
}

}  // namespace mpitron::cli
