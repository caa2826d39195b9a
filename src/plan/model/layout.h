#pragma once
#include <string>

#include "config/run_config.h"

namespace mpitron::plan {

/// How a run is spread over GPUs, as far as a search chooses it; names as in the options.
struct Layout {
  Index gpus = 1;
  Index tensor = 1;
  Index context = 1;
  Index pipeline = 1;
  Index chunks = 1;  // of a stage
  Index expert = 1;
  Index expert_tensor = 1;
  Index micro_batch = 1;
  config::ShardingStrategy sharding = config::ShardingStrategy::optim;

  Index data() const { return gpus / (tensor * pipeline * context); }
  bool operator==(const Layout&) const = default;
};

/// Puts the layout into a run's options. Layers that do not divide among the stages are split as
/// evenly as they can be, the first and last stage having the fewer.
void apply(const Layout& layout, config::RunConfig& run);
/// Returns the layout that a run's options make.
Layout layout_of(const config::RunConfig& run);

/// Returns whether stages have equally many layers, embedding and loss counting as one each if
/// `accounted`.
bool divides_evenly(Index layers, Index virtual_stages, bool accounted);

/// Returns the layers of each virtual stage as a string of --pipeline-model-parallel-layout:
/// "Et*3|t*4|t*4|t*3mL".
std::string layout_string(Index layers, Index virtual_stages, Index depths);

/// Returns the layout as a short text: `tp 8 cp 1 pp 12 vp 1 ep 1 mbs 1 dp 8 optim recompute full
/// 3`.
std::string to_text(const config::RunConfig& run);
const char* to_string(config::ShardingStrategy sharding);
/// Returns "none", "full 3" (layers of a chunk), "core_attn+moe_act".
std::string to_text(const config::RecomputeConfig& recompute);
/// Returns the modules of a selective one, as --recompute-modules has them.
std::string module_names(const config::RecomputeConfig& recompute, const std::string& separator);

}  // namespace mpitron::plan
