#include "cli/generation/generation_ranks.h"

#include "cli/run/launch.h"
#include "config/layer_pattern.h"
#include "inference/engine_choice.h"
#include "pipeline/stage_layout.h"
#include "utils/error.h"

// Layout options of the commands that generate, and what follows from them on each rank: its
// device, its groups, its part of the model, and whether it answers (rank 0) or follows.

namespace mpitron::cli {
namespace {

/// The options in the words of training, which says how a run comes to its device.
config::ParallelConfig transport_of(const GenerationLayout& layout) {
  config::ParallelConfig parallel;
  if (layout.backend != "nccl") {
    parallel.distributed_backend = config::DistributedBackend::mpi;
  }
  return parallel;
}

}  // namespace

void GenerationLayout::declare(Flags& flags) {
  flags.option("--tensor-model-parallel-size", tensor, "ranks that share each layer");
  flags.option("--pipeline-model-parallel-size", pipeline, "stages of layers");
  flags.option("--context-parallel-size", context, "ranks that share each text and its cache");
  flags.option("--expert-model-parallel-size", expert, "ranks that share the experts of a layer");
  flags.option("--expert-tensor-parallel-size", expert_tensor,
               "ranks that share each expert; 0: as --tensor-model-parallel-size");
  flags.option("--distributed-timeout-minutes", timeout_minutes,
               "a rank that lets others wait for so long ends the job");
  flags.option("--device", device,
               "where the model and its cache lie: auto is a GPU where the program has kernels for "
               "one and there is one, else the host");
  flags.choices({"auto", "host", "cuda"});
  flags.option("--distributed-backend", backend,
               "how tensors travel between ranks with GPUs: nccl, or through the host (mpi, gloo), "
               "which may share a GPU");
  flags.choices({"nccl", "mpi", "gloo"});
}

GenerationRanks::GenerationRanks(const GenerationLayout& layout, std::shared_ptr<comm::World> world)
    : layout_(layout),
      host_(std::move(world)),
      device_(make_run_device(layout.device, *host_, transport_of(layout))),
      world_(comm::world_for_device(host_, *device_, device_transport(transport_of(layout)))),
      grid_(world_->size(), {.tensor = layout.tensor,
                             .context = layout.context,
                             .pipeline = layout.pipeline,
                             .expert = layout.expert,
                             .expert_tensor = layout.expert_tensor}),
      groups_(comm::make_parallel_groups(*world_, grid_)) {}

inference::RankPlace GenerationRanks::place() const {
  return inference::RankPlace::of(*world_, groups_, grid_);
}

/// Finds out before weights are read whether the model can be cut so: everything that tensor ranks
/// divide is counted here, with the name that the message gives it.
void GenerationRanks::check(const config::ModelConfig& config, const std::string& path) const {
  if (const std::string missing = inference::no_path_on_gpu(config); on_gpu() && !missing.empty()) {
    throw_usage("{}: {}; give --device host", path, missing);
  }
  if (world_->size() == 1) {
    return;
  }
  if (const std::string missing = inference::no_cached_path(config); !missing.empty()) {
    throw_usage("{}: several ranks generate with a cache, and {}", path, missing);
  }
  if (config.family().encoder_decoder && (layout_.pipeline > 1 || layout_.context > 1)) {
    throw_usage("{}: an encoder with a decoder is cut by --tensor-model-parallel-size alone", path);
  }
  using Part = std::pair<const char*, Index>;
  std::vector<Part> parts = {{"rows of its table of words", config.padded_vocab_size},
                             {"heads", config.num_attention_heads}};
  for (const config::LayerSpec& layer : config::layer_pattern(config)) {
    if (layer.mixer == config::MixerKind::state_space) {
      parts.emplace_back("groups of Mamba layers", config.hybrid.mamba.groups);
    } else if (layer.mixer == config::MixerKind::delta_net) {
      parts.emplace_back("key heads of delta nets", config.hybrid.delta_net.key_heads);
    }
  }
  for (const auto& [what, count] : parts) {
    if (count % layout_.tensor != 0) {
      throw_usage("{}: --tensor-model-parallel-size {} does not divide its {} {}", path,
                  layout_.tensor, count, what);
    }
  }
}

/// Divides layers over stages as training does, so that a checkpoint's pieces are read once.
models::Model::Share GenerationRanks::share(const config::ModelConfig& config,
                                            bool predicts) const {
  config::ParallelConfig parallel;
  parallel.pipeline_model_parallel_size = layout_.pipeline;
  const pipeline::ChunkLayers layers =
      pipeline::make_stage_layout(parallel, config.all_layers(), config.mtp_num_layers.value_or(0))
          .layers(place().stage, 0);
  return {.groups = groups_,
          .part = {.first_layer = layers.first,
                   .num_layers = layers.count,
                   .has_embedding = layers.has_embedding,
                   .has_output = layers.has_loss,
                   .prediction_depths = predicts ? layers.mtp_count : 0}};
}

std::unique_ptr<inference::Engine> GenerationRanks::engine(
    const models::Model& model, const inference::EngineShape& shape,
    std::vector<inference::AdapterHandle> adapters) const {
  if (world_->size() == 1) {
    return inference::make_engine(*device_, model, shape, shape.vocabulary);
  }
  return leads() ? std::make_unique<inference::RankEngine>(*device_, model, place(), grid_, shape,
                                                           std::move(adapters))
                 : nullptr;
}

void GenerationRanks::follow(const models::Model& model, const inference::EngineShape& shape,
                             std::vector<inference::AdapterHandle> adapters,
                             const inference::AdapterReader& read) const {
  inference::RankEngine::follow(*device_, model, place(), shape, std::move(adapters), read);
}

}  // namespace mpitron::cli
