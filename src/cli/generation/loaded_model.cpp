#include "cli/generation/loaded_model.h"

#include <algorithm>

#include "cli/generation/adapter_folder.h"
#include "convert/model_logits.h"
#include "convert/model_reader.h"
#include "device/free_memory.h"
#include "inference/engine_choice.h"
#include "inference/scheduling/batching_limits.h"
#include "models/make_model.h"
#include "nn/layers/layer_rows.h"
#include "utils/error.h"
#include "utils/system/files.h"

// From --load to an engine that generates: the checkpoint of any known format, its configuration
// made fit for generation, its tokenizer, adapters, and a cache as large as options or memory
// allow. Each rank reads its own part of the weights.

namespace mpitron::cli {
namespace {

/// Takes the tokenizer of the options, else the tokenizer.json beside the model. Error(usage)
/// without both.
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
  if (options.draft_tokens < 0 || options.draft_tokens > 64) {
    throw_usage("--num-speculative-tokens {}: allowed are 0 to 64", options.draft_tokens);
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
               "tokens of a cache block, a power of two from 8; 0: 16, on a GPU 64");
  flags.option("--inference-dynamic-batching-buffer-size-gb", cache_gigabytes,
               "memory of the cache on each rank; 0: what --inference-max-requests answers need, "
               "at most 90 % of what the weights leave");
  flags.option("--inference-dynamic-batching-max-tokens-override", max_tokens,
               "tokens of all answers in one step; 0: 512, on a GPU 2048");
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
  flags.flag(
      "--enable-cuda-graph", graphs,
      "steps in which every answer goes on by one token are recorded on the GPU and replayed "
      "with one launch");
  layout.declare(flags);
}

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

std::vector<inference::AdapterHandle> LoadedModel::handles() const {
  std::vector<inference::AdapterHandle> handles;
  for (const inference::ServedAdapter& each : adapters_) {
    handles.push_back(each.adapter);
  }
  return handles;
}

inference::AdapterHandle LoadedModel::only_adapter() const {
  if (adapters_.size() > 1) {
    throw_usage(
        "--adapter: {} are given, and an answer has one; name it beside each prompt of generate's "
        "--prompt-file (field adapter), or to mpitron serve",
        adapters_.size());
  }
  return adapters_.empty() ? nullptr : adapters_[0].adapter;
}

inference::AdapterHandle LoadedModel::adapter(const std::string& wanted) const {
  if (wanted == name) {
    return nullptr;
  }
  std::string names = name;
  for (const inference::ServedAdapter& each : adapters_) {
    if (each.name == wanted) {
      return each.adapter;
    }
    names += ", " + each.name;
  }
  throw_usage("--prompt-file: there is no adapter {}; there is {}", wanted, names);
}

inference::AdapterHandle LoadedModel::read_adapter(const std::string& folder) {
  if (ranks_.on_gpu() && model_->config().multi_latent_attention) {
    throw_usage(
        "--adapter {}: updates of latent attention are served on the host; give --device "
        "host, or a model into which mpitron convert --merge-adapter has put them",
        folder);
  }
  return cli::read_adapter(ranks_.device(), model_->config(), ranks_.share(model_->config(), false),
                           ++adapters_read_, folder);
}

void ModelOptions::declare_adapters(Flags& flags, const std::string& which) {
  flags.option("--adapter", adapters,
               "a folder of PEFT (LoRA), also NAME=FOLDER: updates of the model " + which);
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
  tokenizer = tokenizer_of(options);
  if (tokenizer->vocab_size() > reader.description().stored_vocab_size()) {
    throw_usage("the tokenizer has {} ids, the model of --load {} has {}: choose its own tokenizer",
                tokenizer->vocab_size(), options.load, reader.description().stored_vocab_size());
  }
  check_device(options, config);
  model_ =
      models::make_model(config, ranks_.device(), ranks_.share(config, options.draft_tokens > 0));
  model_->allocate();
  convert::load_values(ranks_.device(), *model_, reader.ours());
}

ModelOptions LoadedModel::for_device(ModelOptions options) const {
  const bool on_gpu = ranks_.on_gpu();
  options.block_size = options.block_size != 0 ? options.block_size : on_gpu ? 64 : 16;
  options.max_tokens = options.max_tokens != 0 ? options.max_tokens : on_gpu ? 2048 : 512;
  return options;
}

/// Packed weights are the host's: on a GPU products read the parameters as they are. Graphs are the
/// GPU's, of steps that one rank makes alone.
void LoadedModel::check_device(const ModelOptions& options,
                               const config::ModelConfig& config) const {
  const auto format = kernels::weight_format(options.weights);
  const auto own = kernels::weight_format(config.params_dtype);
  if (ranks_.on_gpu() && format && *format != own) {
    throw_usage(
        "--inference-weights {}: on a GPU products read the weights of --load in their own "
        "type, {}; give --inference-weights auto, or --device host",
        options.weights, kernels::facts(own).name);
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

/// All ranks have as many blocks as the one that has the least memory left.
inference::EngineShape LoadedModel::engine_shape(const ModelOptions& options) const {
  const CacheSize cache{.config = model_->config(),
                        .first_layer = model_->part().first_layer,
                        .layers = model_->part().num_layers,
                        .block_size = options.block_size,
                        .tensor_ranks = options.layout.tensor,
                        .context_ranks = options.layout.context,
                        .free_memory = device::free_memory(ranks_.device())};
  const Index blocks = cache.blocks(options.max_requests, options.cache_gigabytes);
  return {.block_size = options.block_size,
          .blocks = static_cast<Index>(
              ranks_.world().all()->reduce(static_cast<double>(blocks), comm::Reduction::minimum)),
          .slots = options.max_requests,
          .states = inference::states_for(model_->config(), options.max_requests),
          .max_step_tokens = options.max_tokens,
          .own_drafts = options.draft_tokens,
          .vocabulary = tokenizer->vocab_size(),
          .weights = kernels::weight_format(options.weights),
          .graphs = options.graphs};
}

template <class F>
void CacheSize::for_layers(config::LayerState state, F&& f) const {
  for (Index number = first_layer + 1; number <= first_layer + layers; ++number) {
    const config::LayerSpec spec = config::layer_spec(config, number);
    if (config::facts(spec.mixer).state == state) {
      f(spec);
    }
  }
}

/// Counts fp32 numbers of every recurrent layer of the stage, divided over its tensor ranks.
Index CacheSize::state_bytes() const {
  double numbers = 0;
  for_layers(config::LayerState::recurrent, [&](const config::LayerSpec& spec) {
    numbers += nn::layer_costs(config, spec).state / static_cast<double>(tensor_ranks);
  });
  return 2 * static_cast<Index>(numbers) * size_of(DType::f32);
}

/// Counts a block once for all layers that keep keys. Latent attention keeps its latent and the
/// rotated key; other attention keeps keys and values of the query groups that a tensor rank has.
Index CacheSize::block_bytes() const {
  Index cached = 0;
  for_layers(config::LayerState::key_value_cache, [&](const config::LayerSpec&) { ++cached; });
  const bool latent = config.multi_latent_attention;
  return inference::BlockContents{
      .layers = cached,
      .positions = block_size,
      .groups = std::max<Index>(1, config.num_query_groups / tensor_ranks),
      .head_dim = config.kv_channels,
      .latent_width = latent ? config.kv_lora_rank + config.qk_pos_emb_head_dim : 0,
      .dtype = config.params_dtype}
      .bytes();
}

/// Rounds a sequence's blocks up to the context ranks, which hold them in turn. States are
/// subtracted first, as every request has its own. An explicit size is used up; without one no more
/// is taken than all requests can fill.
Index CacheSize::blocks(Index requests, double gigabytes) const {
  constexpr double kGigabyte = 1 << 30, kShareOfTheRest = 0.9;
  const auto blocks_for = [&](Index tokens) { return (tokens + block_size - 1) / block_size; };
  const bool encodes = config.family().encoder_decoder;
  const Index of_one = encodes
                           ? blocks_for(config.decoder_seq_length) + blocks_for(config.seq_length)
                           : blocks_for(config.max_position_embeddings);
  const Index one = (of_one + context_ranks - 1) / context_ranks * context_ranks;
  const auto states = static_cast<double>(requests * state_bytes());
  const double room =
      gigabytes > 0 ? gigabytes * kGigabyte : kShareOfTheRest * static_cast<double>(free_memory);
  const auto keys = static_cast<double>(one / context_ranks * block_bytes());
  if (states + keys > room) {
    throw_usage(
        "a sequence of full length needs {:.3f} GB of keys and values on each rank, states of "
        "--inference-max-requests {} need {:.3f} GB, and there are {:.3f}: give "
        "--inference-dynamic-batching-buffer-size-gb more, or a smaller --inference-max-seq-length",
        keys / kGigabyte, requests, states / kGigabyte, room / kGigabyte);
  }
  if (block_bytes() == 0) {
    return one * requests;
  }
  const auto fits =
      static_cast<Index>((room - states) / static_cast<double>(block_bytes())) * context_ranks;
  return gigabytes > 0 ? fits : std::min(fits, one * requests);
}

}  // namespace mpitron::cli
