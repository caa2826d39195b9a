#pragma once
#include "autograd/parameter_list.h"
#include "config/model_config.h"
#include "config/run_config.h"
#include "models/base/model.h"
#include "pipeline/stage_layout.h"

namespace mpitron::train {

/// This rank's groups in a run's layout.
comm::ParallelGroups make_groups(comm::World& world, const config::ParallelConfig& parallel);

/// This rank's share of the model: the parts of its pipeline stage, one for each chunk, with its
/// shards of their layers.
class TrainedModel {
 public:
  /// Creates the parameters and gives them their first values, which do not depend on the layout.
  TrainedModel(device::Device& device, const config::RunConfig& config, comm::World& world);
  TrainedModel(const TrainedModel&) = delete;
  TrainedModel& operator=(const TrainedModel&) = delete;

  comm::World& world() const { return world_; }
  const comm::ParallelGroups& groups() const { return groups_; }
  const pipeline::StageLayout& layout() const { return layout_; }
  Index stage() const { return groups_.pipeline->rank(); }
  Index chunks() const { return static_cast<Index>(parts_.size()); }
  models::Model& chunk(Index i) { return *parts_[static_cast<std::size_t>(i)]; }
  /// Returns the parameters of all chunks.
  autograd::ParameterList& parameters() { return *parameters_; }
  /// The table of word embeddings where first and last stage each hold it; null otherwise.
  autograd::Parameter* shared_embedding() const { return shared_embedding_; }

  bool has_embedding() const { return parts_.front()->part().has_embedding; }
  bool has_output() const { return parts_.back()->part().has_output; }
  /// Whether this stage needs tokens, labels or masks; these concern all stages.
  bool reads_data() const { return has_embedding() || has_output() || reads_masks_; }

 private:
  comm::World& world_;
  bool reads_masks_;
  comm::ParallelGroups groups_;
  pipeline::StageLayout layout_;
  std::shared_ptr<autograd::ParameterList> parameters_;
  std::vector<std::unique_ptr<models::Model>> parts_;
  autograd::Parameter* shared_embedding_ = nullptr;
};

/// Marks what keeps its values: everything but factors of low-rank updates where the model has
/// some, else the layers and tables of `config.frozen` beside what the model has marked.
void freeze_parameters(const config::ModelConfig& config, autograd::ParameterList& parameters);

}  // namespace mpitron::train
