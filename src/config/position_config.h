#pragma once
#include <optional>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// Ways to tell a model where tokens stand: a learned table, rotations of queries and keys (Su et
/// al. 2021), T5's biases of distances, or nothing.
enum class PositionEmbedding { learned_absolute, rope, relative, none };
/// Plain rotary frequencies, or those stretched by YaRN (Peng et al. 2023).
enum class RopeType { rope, yarn };

/// Positions of tokens: their kind, and the frequencies of rotations.
struct PositionConfig {
  PositionEmbedding position_embedding_type = PositionEmbedding::learned_absolute;
  RopeType rope_type = RopeType::rope;
  Index rotary_base = 10000;
  // Frequencies that turn by time, height and width; words stand at one place of all three, which
  // is plain rotation. Empty: positions have one axis.
  std::vector<Index> mrope_section;
  std::optional<Index> rotary_base_local;  // of layers with a window, which nothing stretches
  double rotary_percent = 1.0;
  bool rotary_interleaved = false;
  std::optional<Index> rotary_seq_len_interpolation_factor;
  bool use_rope_scaling = false;  // llama 3.1
  double rope_scaling_factor = 8.0;
  double rope_scaling_high_freq_factor = 4.0;
  double rotary_scaling_factor = 1.0;  // YaRN
  double mscale = 1.0;
  double mscale_all_dim = 0.0;
  bool yarn_whole_dimensions = true;  // YaRN's ramp begins and ends at whole dimensions
  /// Per layer, true: no rotation in this layer. Derived from --no-rope-freq; empty: every layer
  /// rotates.
  std::vector<bool> no_rope_layers;
  Index relative_attention_num_buckets = 32;
  Index relative_attention_max_distance = 128;
};

}  // namespace mpitron::config
