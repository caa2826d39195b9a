#include <fmt/format.h>

#include "pipeline/stage_layout.h"
#include "utils/error.h"

// The split of layers over stages by counts: even, uneven, and with ends that count as layers.

namespace mpitron::pipeline {
namespace {

using config::ParallelConfig;

/// Number that has to be divided, named for the message: "15 layers + embedding".
struct Blocks {
  Index count;
  std::string name;
};

/// blocks / parts; Error(usage) with the remainder and the nearest legal --num-layers otherwise.
Index divided(const Blocks& blocks, Index parts, std::string_view per_what) {
  if (blocks.count % parts == 0) {
    return blocks.count / parts;
  }
  throw_usage(
      "{} cannot be divided evenly among {} {}: {} % {} = {}; change --num-layers by -{} or +{}, "
      "--pipeline-model-parallel-size or the number of virtual stages, or name the layers of each "
      "stage with --pipeline-model-parallel-layout",
      blocks.name, parts, per_what, blocks.count, parts, blocks.count % parts, blocks.count % parts,
      parts - blocks.count % parts);
}

/// Layers of each stage (all chunks), first and last stage given explicitly.
std::vector<Index> uneven_stages(const ParallelConfig& p, Index num_layers) {
  const Index stages = p.pipeline_model_parallel_size;
  const auto& first = p.decoder_first_pipeline_num_layers;
  const auto& last = p.decoder_last_pipeline_num_layers;
  if (stages < 2) {
    throw_usage(
        "--decoder-first-pipeline-num-layers and --decoder-last-pipeline-num-layers need at least "
        "2 pipeline stages, --pipeline-model-parallel-size is {}",
        stages);
  }
  if (first.value_or(1) < 1 || last.value_or(1) < 1) {
    throw_usage(
        "--decoder-first-pipeline-num-layers and --decoder-last-pipeline-num-layers are at least "
        "1, given {} and {}; --pipeline-model-parallel-layout can describe a stage without layers",
        first.value_or(1), last.value_or(1));
  }
  const Index middle_layers = num_layers - first.value_or(0) - last.value_or(0);
  const Index middle_stages = stages - first.has_value() - last.has_value();
  if (middle_layers < 0 || (middle_stages == 0 && middle_layers != 0)) {
    throw_usage(
        "--decoder-first-pipeline-num-layers {} and --decoder-last-pipeline-num-layers {} leave {} "
        "of --num-layers {} for {} stages between them; they have to add up",
        first.value_or(0), last.value_or(0), middle_layers, num_layers, middle_stages);
  }
  Index each = 0;
  if (middle_stages > 0) {
    each = divided({middle_layers, fmt::format("The {} layers beside the explicit first or last "
                                               "stage",
                                               middle_layers)},
                   middle_stages, "pipeline stages");
  }
  std::vector<Index> layers(static_cast<std::size_t>(stages), each);
  layers.front() = first.value_or(each);
  layers.back() = last.value_or(each);
  return layers;
}

std::vector<Index> even_stages(const ParallelConfig& p, Index num_layers) {
  Blocks blocks{num_layers, fmt::format("{} layers", num_layers)};
  if (p.account_for_embedding_in_pipeline_split) {
    ++blocks.count;
    blocks.name += " + embedding";
  }
  if (p.account_for_loss_in_pipeline_split) {
    ++blocks.count;
    blocks.name += " + loss";
  }
  const Index stages = p.pipeline_model_parallel_size;
  return std::vector<Index>(static_cast<std::size_t>(stages),
                            divided(blocks, stages, "pipeline stages"));
}

/// Error(usage) where the layers of a stage cannot be cut into its chunks.
void check_virtual_stages(const ParallelConfig& p, Index layers_per_stage) {
  const auto& per_chunk = p.num_layers_per_virtual_pipeline_stage;
  if (!per_chunk) {
    return;
  }
  if (is_uneven(p)) {
    throw_usage(
        "--num-layers-per-virtual-pipeline-stage {} describes equal stages; with "
        "--decoder-first-pipeline-num-layers or --decoder-last-pipeline-num-layers give "
        "--num-virtual-stages-per-pipeline-rank instead",
        *per_chunk);
  }
  if (*per_chunk < 1 || layers_per_stage % *per_chunk != 0) {
    throw_usage(
        "--num-layers-per-virtual-pipeline-stage {} does not divide the {} layers of a pipeline "
        "stage (embedding and loss counted where they are accounted for)",
        *per_chunk, layers_per_stage);
  }
}

}  // namespace

std::vector<ChunkLayers> split_layers(const ParallelConfig& p, Index num_layers,
                                      Index mtp_num_layers) {
  const Index stages = p.pipeline_model_parallel_size;
  const Index chunks = chunks_of(p);
  const std::vector<Index> layers =
      is_uneven(p) ? uneven_stages(p, num_layers) : even_stages(p, num_layers);
  check_virtual_stages(p, layers.front());
  std::vector<ChunkLayers> virtual_stages;
  for (Index v = 0; v < stages * chunks; ++v) {
    const Index here = layers[static_cast<std::size_t>(v % stages)];
    const Blocks blocks{here, fmt::format("The {} layers of pipeline stage {}", here, v % stages)};
    virtual_stages.push_back({.count = divided(blocks, chunks, "virtual stages")});
  }
  virtual_stages.front().has_embedding = true;
  virtual_stages.back().has_loss = true;
  virtual_stages.back().mtp_count = mtp_num_layers;
  virtual_stages.front().count -= p.account_for_embedding_in_pipeline_split ? 1 : 0;
  virtual_stages.back().count -= p.account_for_loss_in_pipeline_split ? 1 : 0;
  return virtual_stages;
}

}  // namespace mpitron::pipeline
