#pragma once
#include <algorithm>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// Whether backward computes whole layers again, chosen parts of them, or nothing.
enum class RecomputeGranularity { none, full, selective };
/// With full recompute: groups of recompute_num_layers layers, or the first so many.
enum class RecomputeMethod { none, uniform, block };
/// Parts of a layer that selective recompute can drop, by the words of --recompute-modules.
enum class RecomputeModule { core_attn, moe_act, layernorm, mla_up_proj, mlp, moe, shared_experts };

/// Activations that the backward pass computes again instead of keeping them.
struct RecomputeConfig {
  RecomputeGranularity recompute_granularity = RecomputeGranularity::none;
  RecomputeMethod recompute_method = RecomputeMethod::none;
  Index recompute_num_layers = 0;
  std::vector<RecomputeModule> recompute_modules;  // derived: {core_attn} when selective
  /// Each tensor parallel rank keeps its piece of what recomputation starts from.
  bool distribute_saved_activations = false;

  /// Returns whether selective recomputation drops what `module` computes.
  bool recomputes(RecomputeModule module) const {
    return recompute_granularity == RecomputeGranularity::selective &&
           std::ranges::count(recompute_modules, module) > 0;
  }
};

}  // namespace mpitron::config
