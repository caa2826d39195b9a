#pragma once
#include "cli/flags.h"
#include "comm/groups/parallel_groups.h"
#include "inference/rank_engine.h"

namespace mpitron::cli {

/// Where a model that generates lies, and how ranks share it; those left over are replicas.
struct GenerationLayout {
  std::string device = "auto";
  std::string backend = "nccl";  // how tensors of a GPU travel
  Index tensor = 1, pipeline = 1, context = 1, expert = 1;
  Index expert_tensor = 0;  // 0: as tensor
  double timeout_minutes = 10;

  /// Adds Megatron's layout options to a command.
  void declare(Flags& flags);
};

/// The ranks of a command that generates, each with the device it computes on. Collective.
class GenerationRanks {
 public:
  /// Error(usage) where the sizes do not divide the ranks; Error(environment) where a GPU is wanted
  /// and there is none.
  GenerationRanks(const GenerationLayout& layout, std::shared_ptr<comm::World> world);

  comm::World& world() const { return *world_; }
  device::Device& device() const { return *device_; }
  bool on_gpu() const { return !device_->tensors_on_host(); }
  /// Returns whether this rank answers; the others take part in its steps.
  bool leads() const { return world_->rank() == 0; }
  /// Error(usage), which names `path`, for models that cannot be cut so, or not run on the device.
  void check(const config::ModelConfig& config, const std::string& path) const;
  /// Returns this rank's part of a model; `predicts` adds its depths of multi-token prediction.
  models::Model::Share share(const config::ModelConfig& config, bool predicts) const;
  /// Makes the engine on the rank that leads, nullptr on others. `adapters` are those that requests
  /// may name from the start.
  std::unique_ptr<inference::Engine> engine(
      const models::Model& model, const inference::EngineShape& shape,
      std::vector<inference::AdapterHandle> adapters = {}) const;
  /// Takes part in the steps of the engine of rank 0, and reads the adapters that it loads by
  /// `read`; returns when that engine ends.
  void follow(const models::Model& model, const inference::EngineShape& shape,
              std::vector<inference::AdapterHandle> adapters = {},
              const inference::AdapterReader& read = {}) const;

 private:
  inference::RankPlace place() const;

  GenerationLayout layout_;
  std::shared_ptr<comm::World> host_;
  std::unique_ptr<device::Device> device_;
  std::shared_ptr<comm::World> world_;  // over both
  comm::RankGrid grid_;
  comm::ParallelGroups groups_;
};

}  // namespace mpitron::cli
