#include "train/model/trained_model.h"

#include "models/make_model.h"
#include "train/model/rank_layout.h"
#include "train/model/upcycling.h"

// Makes the parts of the model that this rank has, one for each chunk of its stage.

namespace mpitron::train {
/// The groups of the rank grid, with the levels that options name.
comm::ParallelGroups make_groups(comm::World& world, const config::ParallelConfig& parallel) {
  comm::GroupOptions options{.context_level_sizes = parallel.hierarchical_context_parallel_sizes,
                             .optimizer_instances = parallel.num_distributed_optimizer_instances,
                             .sequence_parallel = parallel.sequence_parallel};
  for (const std::string& word : parallel.cp_comm_type) {
    options.context_exchange.push_back(comm::context_exchange_of(word));
  }
  return comm::make_parallel_groups(world, make_rank_grid(parallel, world.size()), options);
}

/// Chunks in the order of the pipeline; what they share (tied tables) is in one list of parameters.
/// Values follow from seed and name, whichever rank makes them.
TrainedModel::TrainedModel(device::Device& device, const config::RunConfig& config,
                           comm::World& world)
    : world_(world),
      reads_masks_(config.data.has_attention_masks() || config.model.family().padded()),
      groups_(make_groups(world, config.parallel)),
      layout_(pipeline::make_stage_layout(config.parallel, config.model.all_layers(),
                                          config.model.mtp_num_layers.value_or(0))),
      parameters_(std::make_shared<autograd::ParameterList>()) {
  for (Index chunk = 0; chunk < layout_.chunks(); ++chunk) {
    const pipeline::ChunkLayers& layers = layout_.layers(stage(), chunk);
    parts_.push_back(
        models::make_model(config.model, device,
                           models::Model::Share{.groups = groups_,
                                                .part = {.first_layer = layers.first,
                                                         .num_layers = layers.count,
                                                         .has_embedding = layers.has_embedding,
                                                         .has_output = layers.has_loss,
                                                         .prediction_depths = layers.mtp_count},
                                                .parameters = parameters_}));
  }
  parts_.front()->initialize();
  freeze_parameters(config.model, *parameters_);
  if (config.checkpoint.upcycling_granularity) {
    group_router_rows(device, *parameters_, *config.checkpoint.upcycling_granularity);
  }
  for (autograd::Parameter& parameter : *parameters_) {
    if (parameter.placement.shared_over_stages) {
      shared_embedding_ = &parameter;
    }
  }
}

/// Freezes parameters that a run does not train: all but the factors with low-rank updates, else
/// those that options name.
void freeze_parameters(const config::ModelConfig& config, autograd::ParameterList& parameters) {
  for (autograd::Parameter& parameter : parameters) {
    if (config.lora) {
      parameter.role.frozen = !parameter.role.low_rank;
      continue;
    }
    const bool table = parameter.name.starts_with("embedding.");
    const bool asked = parameter.placement.unit == 0
                           ? table && config.frozen.embeddings
                           : config.frozen.has_layer(parameter.placement.unit);
    parameter.role.frozen = parameter.role.frozen || asked;
  }
}

}  // namespace mpitron::train
