#include "pipeline/stage_layout.h"

#include <algorithm>

#include "utils/error.h"

// Which layers lie on which stage, by the three ways in which the reference says so: equal shares
// (with embedding and loss counted as layers or not), other numbers for the first and last stage,
// or a layout string.

namespace mpitron::pipeline {
namespace {

using config::ParallelConfig;

/// Cuts by the bars of a hybrid model's pattern.
std::vector<ChunkLayers> segmented(const ParallelConfig& p, Index mtp_num_layers) {
  const std::size_t segments = p.pattern_segments.size();
  if (segments % static_cast<std::size_t>(p.pipeline_model_parallel_size) != 0) {
    throw_usage("{} segments of --hybrid-layer-pattern cannot be dealt to {} pipeline stages",
                segments, p.pipeline_model_parallel_size);
  }
  std::vector<ChunkLayers> virtual_stages;
  for (const Index layers : p.pattern_segments) {
    virtual_stages.push_back({.count = layers});
  }
  virtual_stages.front().has_embedding = true;
  virtual_stages.back().has_loss = true;
  virtual_stages.back().mtp_count = mtp_num_layers;
  return virtual_stages;
}

}  // namespace

Index chunks_of(const ParallelConfig& p) {
  return p.virtual_pipeline_model_parallel_size.value_or(1);
}

bool is_accounted(const ParallelConfig& p) {
  return p.account_for_embedding_in_pipeline_split || p.account_for_loss_in_pipeline_split;
}

bool is_uneven(const ParallelConfig& p) {
  return p.decoder_first_pipeline_num_layers || p.decoder_last_pipeline_num_layers;
}

StageLayout::StageLayout(Index stages, std::vector<ChunkLayers> chunks_in_order)
    : stages_(stages), virtual_stages_(std::move(chunks_in_order)) {
  const auto count = static_cast<Index>(virtual_stages_.size());
  MPITRON_CHECK(stages > 0 && count > 0 && count % stages == 0, stages, count);
  for (ChunkLayers& layers : virtual_stages_) {
    layers.first = num_layers_;
    num_layers_ += layers.count;
  }
}

const ChunkLayers& StageLayout::layers(Index stage, Index chunk) const {
  MPITRON_CHECK(stage >= 0 && stage < stages_ && chunk >= 0 && chunk < chunks(), stage, chunk);
  return virtual_stages_[static_cast<std::size_t>(chunk * stages_ + stage)];
}

ChunkPosition StageLayout::owner(Index layer) const {
  MPITRON_CHECK(layer >= 0 && layer < num_layers_, layer, num_layers_);
  const auto after = std::upper_bound(
      virtual_stages_.begin(), virtual_stages_.end(), layer,
      [](Index wanted, const ChunkLayers& layers) { return wanted < layers.first + layers.count; });
  const Index v = after - virtual_stages_.begin();
  return {.stage = v % stages_, .chunk = v / stages_};
}

StageLayout make_stage_layout(const ParallelConfig& parallel, Index num_layers,
                              Index mtp_num_layers) {
  const Index stages = parallel.pipeline_model_parallel_size;
  if (stages < 1 || (chunks_of(parallel) < 1 && !parallel.num_layers_per_virtual_pipeline_stage)) {
    throw_usage(
        "--pipeline-model-parallel-size and --num-virtual-stages-per-pipeline-rank are at least 1, "
        "given {} and {}",
        stages, chunks_of(parallel));
  }
  if (is_uneven(parallel) && is_accounted(parallel)) {
    throw_usage(
        "--decoder-first-pipeline-num-layers and --decoder-last-pipeline-num-layers give the split "
        "explicitly; --account-for-embedding-in-pipeline-split and "
        "--account-for-loss-in-pipeline-split only change an even one: leave one pair out");
  }
  StageLayout layout(stages, !parallel.pattern_segments.empty()
                                 ? segmented(parallel, mtp_num_layers)
                             : parallel.pipeline_model_parallel_layout
                                 ? named_layers(parallel, num_layers, mtp_num_layers)
                                 : split_layers(parallel, num_layers, mtp_num_layers));
  if (stages == 1 && layout.chunks() > 1) {
    throw_usage(
        "{} virtual stages need at least 2 pipeline stages, --pipeline-model-parallel-size is 1; "
        "leave --num-virtual-stages-per-pipeline-rank out or raise the size",
        layout.chunks());
  }
  return layout;
}

}  // namespace mpitron::pipeline
