#pragma once
#include <algorithm>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::config {

enum class RecomputeGranularity { none, full, selective };
enum class RecomputeMethod { none, uniform, block };
enum class RecomputeModule { core_attn, moe_act, layernorm, mla_up_proj, mlp, moe, shared_experts };

/// What the backward pass computes again instead of keeping it.
struct RecomputeConfig {
  RecomputeGranularity recompute_granularity = RecomputeGranularity::none;
  RecomputeMethod recompute_method = RecomputeMethod::none;
  Index recompute_num_layers = 0;
  std::vector<RecomputeModule> recompute_modules;  // derived: {core_attn} when selective
  /// Each tensor parallel rank keeps its piece of what recomputation starts from.
  bool distribute_saved_activations = false;

  /// Whether selective recomputation drops what `module` computes.
  bool recomputes(RecomputeModule module) const {
    return recompute_granularity == RecomputeGranularity::selective &&
           std::ranges::count(recompute_modules, module) > 0;
  }
};

}  // namespace mpitron::config
