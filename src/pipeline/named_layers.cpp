#include <algorithm>

#include <fmt/format.h>

#include "pipeline/stage_layout.h"
#include "utils/error.h"

// Layers by a layout string, which names those of every virtual stage.

namespace mpitron::pipeline {
namespace {

using config::ParallelConfig;

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

}  // namespace

std::vector<ChunkLayers> named_layers(const ParallelConfig& p, Index num_layers,
                                      Index mtp_num_layers) {
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

}  // namespace mpitron::pipeline
