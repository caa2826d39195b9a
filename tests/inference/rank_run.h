#pragma once
#include <functional>

#include "comm/groups/device_world.h"
#include "device/copy.h"
#include "inference/rank_engine.h"
#include "models/gpt/gpt_model.h"
#include "pipeline/stage_layout.h"

namespace mpitron::test {

struct RankLayout {
  const char* name;
  Index ranks;
  comm::ParallelSizes sizes;
};

/// What a rank has when its engine is made.
struct RankModel {
  comm::World& world;
  const comm::RankGrid& grid;
  device::Device& device;
  models::Model::Share share;
  models::GptModel& model;
  inference::RankPlace place;
};

/// body(rank) with a thread, a device of that name and its share of a model for each rank.
inline void run_ranks(const config::ModelConfig& config, const RankLayout& layout,
                      const char* device_name, const std::function<void(const RankModel&)>& body) {
  comm::run_thread_world(layout.ranks, [&](comm::World& host) {
    const auto device = device::make_device(device_name);
    const auto world =
        comm::world_for_device(std::shared_ptr<comm::World>(&host, [](comm::World*) {}), *device);
    const comm::RankGrid grid(layout.ranks, layout.sizes);
    const comm::ParallelGroups groups = comm::make_parallel_groups(*world, grid);
    const inference::RankPlace place = inference::RankPlace::of(*world, groups, grid);
    config::ParallelConfig parallel;
    parallel.pipeline_model_parallel_size = place.stages;
    const pipeline::ChunkLayers layers =
        pipeline::make_stage_layout(parallel, config.num_layers).layers(place.stage, 0);
    const models::Model::Share share{.groups = groups,
                                     .part = {.first_layer = layers.first,
                                              .num_layers = layers.count,
                                              .has_embedding = layers.has_embedding,
                                              .has_output = layers.has_loss}};
    models::GptModel model(config, *device, share);
    model.initialize();
    body({*world, grid, *device, share, model, place});
    if (!device->tensors_on_host()) {  // what the others still read of this rank's memory
      device::synchronize(device->stream());
    }
    world->all()->barrier();
  });
}

}  // namespace mpitron::test
