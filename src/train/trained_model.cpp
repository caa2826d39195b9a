#include "train/trained_model.h"

namespace mpitron::train {

TrainedModel::TrainedModel(device::Device& device, const config::RunConfig& config,
                           comm::World& world)
    : world_(world),
      groups_(comm::groups_of_one(world)),
      layout_(pipeline::make_stage_layout(config.parallel, config.model.num_layers)),
      parameters_(std::make_shared<autograd::ParameterList>()) {
  for (Index chunk = 0; chunk < layout_.chunks(); ++chunk) {
    const pipeline::ChunkLayers& layers = layout_.layers(stage(), chunk);
    parts_.emplace_back(config.model, device,
                        models::GptModel::Share{.groups = groups_,
                                                .part = {.first_layer = layers.first,
                                                         .num_layers = layers.count,
                                                         .has_embedding = layers.has_embedding,
                                                         .has_output = layers.has_loss},
                                                .parameters = parameters_});
  }
  parts_.front().initialize();
}

}  // namespace mpitron::train
