#pragma once
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// Mamba-2 mixers (Dao and Gu 2024).
struct MambaConfig {
  Index state_dim = 128;
  Index head_dim = 64;
  Index groups = 8;
  Index heads = 0;  // derived: 2 h / head_dim

  Index width() const { return heads * head_dim; }
  /// Of B, as of C.
  Index shared() const { return groups * state_dim; }
  /// What the convolution mixes: x, B, C.
  Index channels() const { return width() + 2 * shared(); }
  /// Of in_proj: z, x, B, C, dt.
  Index projected() const { return width() + channels() + heads; }
};

/// Gated delta nets (Yang et al. 2025).
struct DeltaNetConfig {
  Index conv_width = 4;
  Index key_dim = 128, value_dim = 128;    // of a head
  Index key_heads = 16, value_heads = 32;  // a key head serves value_heads / key_heads

  /// Of all heads' keys, as of their queries.
  Index keys() const { return key_heads * key_dim; }
  Index values() const { return value_heads * value_dim; }
  /// What the convolution mixes: q, k, v.
  Index channels() const { return 2 * keys() + values(); }
  /// Of in_proj: q, k, v, z, beta, alpha.
  Index projected() const { return channels() + values() + 2 * value_heads; }
};

/// What --model mamba stacks.
struct HybridConfig {
  /// As given, or by the ratios: one letter a layer of one residual branch, in
  /// --hybrid-override-pattern (0.14: M * -) and --hybrid-layer-pattern, without bars and depths;
  /// empty: transformer layers.
  std::string pattern;
  /// The same of each depth of multi-token prediction; empty: one transformer layer.
  std::string depth_pattern;
  /// --is-hybrid-model: layers that write into the residual stream start at std / sqrt(L) instead
  /// of std / sqrt(2 L).
  bool one_branch_a_layer = false;
  MambaConfig mamba;
  DeltaNetConfig delta_net;
  /// Of a GPT: layers with a delta net in place of attention; empty: none.
  std::vector<bool> delta_layers;
};

}  // namespace mpitron::config
