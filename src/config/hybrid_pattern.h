#pragma once
#include <string>
#include <string_view>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// The letters of --hybrid-attention-ratio and --hybrid-mlp-ratio: attention layers lie evenly
/// among all, MLPs evenly among the others (the reference's allocate_layers).
std::string pattern_of_ratios(Index layers, double attention_ratio, double mlp_ratio);

/// How often a letter stands in a pattern.
Index count_letter(std::string_view pattern, char letter);

}  // namespace mpitron::config
