#pragma once
#include "cli/data/tokenizer_flags.h"
#include "cli/evaluation/cache_types.h"
#include "cli/generation/generation_ranks.h"
#include "config/layer_pattern.h"
#include "convert/formats/tensor_source.h"
#include "inference/protocol/served_adapters.h"
#include "inference/scheduling/scheduler.h"
#include "tokenizers/chat/chat_template.h"
#include "utils/system/machine.h"

namespace mpitron::cli {

/// Options of the commands that generate text.
struct ModelOptions {
  std::string load;
  std::string name;  // as requests know it; empty: the folder's
  tokenizers::TokenizerOptions tokenizer{.type = ""};
  Index max_requests = 8;
  Index block_size = 0;        // 0: 16, on a GPU 64
  Index max_tokens = 0;        // of a step; 0: 512, on a GPU 2048
  Index max_length = 0;        // of a prompt with its answer; 0: the model's
  double cache_gigabytes = 0;  // 0: what the requests can need, or what is left
  std::string weights = "auto";
  CacheTypes types;
  std::string prefix_cache = "on";
  Index snapshots = -1;  // beginnings of texts whose states are kept; -1: what is usual
  Index draft_tokens = 0;
  bool graphs = false;
  std::vector<std::string> adapters;  // of declare_adapters
  GenerationLayout layout;

  /// Adds --load, the tokenizer's, the cache's and the layout's options, under Megatron's names.
  void declare(Flags& flags);
  /// `which`: what they are for.
  void declare_adapters(Flags& flags, const std::string& which);
  inference::SchedulerSettings scheduling() const {
    return {.prefix_cache = prefix_cache == "on", .draft_tokens = draft_tokens};
  }
};

struct CacheSize;

/// A model in memory that generates, with its tokenizer, on one rank or on many. Kokkos must run
/// (device::HostRuntime). Collective.
class LoadedModel {
 public:
  /// A checkpoint of mpitron or Megatron, or a Hugging Face folder, whose tokenizer is taken where
  /// no other is chosen. Error(usage) for kinds of models that do not generate.
  LoadedModel(const ModelOptions& options, std::shared_ptr<comm::World> world);

  /// Returns whether this rank answers; the others take part in its steps until its engine ends.
  bool leads() const { return ranks_.leads(); }
  void follow();
  /// Adapters of the option --adapter, in its order.
  const std::vector<inference::ServedAdapter>& adapters() const { return adapters_; }
  /// Returns the only adapter, null without --adapter. Error(usage) where several are given.
  inference::AdapterHandle only_adapter() const;
  /// Returns an adapter by its name, null for the model's. Error(usage) lists the names there are.
  inference::AdapterHandle adapter(const std::string& wanted) const;
  /// Reads one adapter more; the rank that leads calls it, on the engine's thread, while the others
  /// follow. Errors as cli::read_adapter; of several ranks, that of the first that has one.
  inference::AdapterHandle load_adapter(const std::string& folder);
  const config::ModelConfig& config() const { return model_->config(); }
  /// The template of a Jinja file, or else the one that the tokenizer brings along; null where
  /// there is none.
  std::shared_ptr<const tokenizers::ChatTemplate> chat_template(const std::string& file) const;

  std::string name;  // as requests know it
  std::unique_ptr<tokenizers::Tokenizer> tokenizer;

 private:
  /// Completes the options by what the device likes.
  ModelOptions for_device(ModelOptions options) const;
  void check_device(const ModelOptions& options, const config::ModelConfig& config) const;
  void read_model(const ModelOptions& options);
  void load_packed(const ModelOptions& options, convert::TensorSource& ours);
  inference::AdapterHandle read_adapter(const std::string& folder);
  std::vector<inference::AdapterHandle> handles() const;
  inference::EngineShape engine_shape(const ModelOptions& options) const;
  Index snapshots(const ModelOptions& options, const CacheSize& cache) const;

  GenerationRanks ranks_;
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<autograd::PackedWeights> packed_;  // of a GPU: in place of values
  std::vector<inference::ServedAdapter> adapters_;
  Index adapters_read_ = 0;
  inference::EngineShape shape_;

 public:
  std::unique_ptr<inference::Engine> engine;  // of the rank that leads
};

/// Returns how many blocks of keys and values a rank's cache has, beside the states of layers that
/// keep no keys.
struct CacheSize {
  const config::ModelConfig& config;
  Index first_layer = 0;  // of this rank's stage, from 0
  Index layers = 1;       // of it
  Index block_size = 16;
  Index tensor_ranks = 1, context_ranks = 1;
  kernels::CacheType cache = kernels::CacheType::model;
  kernels::StateTypes states = {};
  Index free_memory = mpitron::free_memory();  // bytes, of the host or the GPU
  Index snapshots = 0;                         // beginnings of texts whose states are kept

  /// Bytes of one block on each rank that holds it, over all layers of its stage.
  Index block_bytes() const;
  /// Bytes that layers with a state carry of one sequence, twice: in front of a step and behind it.
  Index state_bytes() const;
  /// Bytes of the states that are kept of one beginning of a text.
  Index snapshot_bytes() const { return state_bytes() / 2; }
  /// Returns how many beginnings are usually kept: four for each request, at most what fits into a
  /// quarter of the memory that the states of requests leave.
  Index usual_snapshots(Index requests, double gigabytes) const;
  /// Returns the blocks for `requests` sequences of full length, or what fits into `gigabytes` of
  /// each rank; with 0 at most a share of the memory that is left. Error(usage) with both numbers
  /// where that is less than one sequence needs.
  Index blocks(Index requests, double gigabytes) const;

 private:
  /// Bytes for blocks and states.
  double room(double gigabytes) const;
  /// f(number) of the stage's layers that carry such a state.
  template <class F>
  void for_layers(config::LayerState state, F&& f) const;
};

}  // namespace mpitron::cli
