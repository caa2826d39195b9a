#pragma once
#include "cli/data/tokenizer_flags.h"
#include "cli/generation/generation_ranks.h"
#include "inference/scheduling/scheduler.h"
#include "tokenizers/chat/chat_template.h"

namespace mpitron::cli {

/// Options of the commands that generate text.
struct ModelOptions {
  std::string load;
  tokenizers::TokenizerOptions tokenizer{.type = ""};
  Index max_requests = 8;
  Index block_size = 16;
  Index max_tokens = 512;      // of a step
  Index max_length = 0;        // of a prompt with its answer; 0: the model's
  double cache_gigabytes = 0;  // 0: what the requests can need, or what is left
  std::string weights = "auto";
  std::string prefix_cache = "on";
  Index draft_tokens = 0;
  GenerationLayout layout;

  void declare(Flags& flags);
  inference::SchedulerSettings scheduling() const {
    return {.prefix_cache = prefix_cache == "on", .draft_tokens = draft_tokens};
  }
};

/// A model in memory that generates, with its tokenizer, on one rank or on many. Kokkos must run
/// (device::HostRuntime). Collective.
class LoadedModel {
 public:
  /// A checkpoint of mpitron or Megatron, or a Hugging Face folder, whose tokenizer is taken where
  /// no other is chosen. Error(usage) for kinds of models that do not generate.
  LoadedModel(const ModelOptions& options, std::shared_ptr<comm::World> world);

  /// Whether this rank answers; the others take part in its steps until its engine ends.
  bool leads() const { return ranks_.leads(); }
  void follow() { ranks_.follow(*device_, *model_, shape_); }
  /// The template that the tokenizer brings along; null where it has none.
  std::shared_ptr<const tokenizers::ChatTemplate> chat_template() const;

  std::string name;  // of the folder
  std::unique_ptr<tokenizers::Tokenizer> tokenizer;

 private:
  void read_model(const ModelOptions& options);
  inference::EngineShape engine_shape(const ModelOptions& options) const;

  GenerationRanks ranks_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<models::Model> model_;
  inference::EngineShape shape_;

 public:
  std::unique_ptr<inference::Engine> engine;  // of the rank that leads
};

}  // namespace mpitron::cli
