#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// The letters of --hybrid-attention-ratio and --hybrid-mlp-ratio: attention layers lie evenly
/// among all, MLPs evenly among the others (the reference's allocate_layers).
std::string pattern_of_ratios(Index layers, double attention_ratio, double mlp_ratio);

/// How often a letter stands in a pattern.
Index count_letter(std::string_view pattern, char letter);

/// What a pattern says beside its letters: M*|M*/MM/MM has two pipeline segments and two depths of
/// multi-token prediction.
struct HybridPattern {
  std::string letters = {};              // of the layers, without bars
  std::vector<Index> segments = {};      // layers of each pipeline segment; empty without bars
  std::vector<std::string> depths = {};  // letters of each depth of prediction, wanted equal
};
HybridPattern read_pattern(std::string_view text);

}  // namespace mpitron::config
