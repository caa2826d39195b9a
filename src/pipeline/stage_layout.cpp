#include "pipeline/stage_layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "utils/error.h"

// Which layers lie on which stage, by the three ways in which the reference says so: equal shares
// (with embedding and loss counted as layers or not), other numbers for the first and last stage,
// or a layout string.

namespace mpitron::pipeline {
namespace {

using config::ParallelConfig;

/// Whether embedding or loss count as a layer when layers are divided.
bool is_accounted(const ParallelConfig& p) {
  return p.account_for_embedding_in_pipeline_split || p.account_for_loss_in_pipeline_split;
}

/// Error(usage) that quotes the layout string.
[[noreturn]] void bad_layout(const ParallelConfig& p, const std::string& what) {
  throw_usage("--pipeline-model-parallel-layout '{}': {}", *p.pipeline_model_parallel_layout, what);
}

/// Options that say the same as the layout string.
void check_layout_alone(const ParallelConfig& p, std::size_t virtual_stages) {
  const auto stages = static_cast<std::size_t>(p.pipeline_model_parallel_size);
  if (is_uneven(p) || is_accounted(p) || p.num_layers_per_virtual_pipeline_stage) {
    bad_layout(p,
               "the layout names the layers of every stage already; leave out "
               "--decoder-first-pipeline-num-layers, --decoder-last-pipeline-num-layers, "
               "--account-for-embedding-in-pipeline-split, --account-for-loss-in-pipeline-split "
               "and --num-layers-per-virtual-pipeline-stage");
  }
  if (virtual_stages % stages != 0) {
    bad_layout(p, fmt::format("{} stages cannot be dealt to --pipeline-model-parallel-size {}; add "
                              "{} or remove {}",
                              virtual_stages, stages, stages - virtual_stages % stages,
                              virtual_stages % stages));
  }
  if (p.virtual_pipeline_model_parallel_size &&
      chunks_of(p) != static_cast<Index>(virtual_stages / stages)) {
    bad_layout(p,
               fmt::format("it has {} virtual stages per rank, "
                           "--num-virtual-stages-per-pipeline-rank says {}; leave the option out",
                           virtual_stages / stages, chunks_of(p)));
  }
}

Index count_of(const std::string& stage, char symbol) {
  return std::count(stage.begin(), stage.end(), symbol);
}

/// The symbol stands `count` times in `stage` and nowhere else.
void check_place(const ParallelConfig& p, const std::vector<std::string>& stages, char symbol,
                 const std::string& stage, Index count) {
  Index all = 0;
  for (const std::string& text : stages) {
    all += count_of(text, symbol);
  }
  if (all != count || count_of(stage, symbol) != count) {
    bad_layout(p, fmt::format("{} has to stand {} time{} in the {} stage and nowhere else; it has "
                              "{} there and {} in all",
                              symbol, count, count == 1 ? "" : "s",
                              symbol == 'E' ? "first" : "last", count_of(stage, symbol), all));
  }
}

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

std::vector<ChunkLayers> named(const ParallelConfig& p, Index num_layers, Index mtp_num_layers) {
  const std::vector<std::string> stages = parse_layout_string(*p.pipeline_model_parallel_layout);
  check_layout_alone(p, stages.size());
  check_place(p, stages, 'E', stages.front(), 1);
  check_place(p, stages, 'L', stages.back(), 1);
  check_place(p, stages, 'm', stages.back(), mtp_num_layers);
  std::vector<ChunkLayers> virtual_stages;
  Index layers = 0;
  for (const std::string& stage : stages) {
    virtual_stages.push_back({.count = count_of(stage, 't'),
                              .mtp_count = count_of(stage, 'm'),
                              .has_embedding = count_of(stage, 'E') > 0,
                              .has_loss = count_of(stage, 'L') > 0});
    layers += virtual_stages.back().count;
  }
  if (layers != num_layers) {
    bad_layout(
        p, fmt::format("it has {} transformer layers (t), --num-layers is {}", layers, num_layers));
  }
  return virtual_stages;
}

}  // namespace

Index chunks_of(const ParallelConfig& p) {
  return p.virtual_pipeline_model_parallel_size.value_or(1);
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
                                 ? named(parallel, num_layers, mtp_num_layers)
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
