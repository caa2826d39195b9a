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
  /// Columns of B, as of C: heads of a group share them.
  Index shared() const { return groups * state_dim; }
  /// Channels that the convolution mixes: x, B, C.
  Index channels() const { return width() + 2 * shared(); }
  /// Rows of in_proj: z, x, B, C, dt.
  Index projected() const { return width() + channels() + heads; }
};

/// Gated delta nets (Yang et al. 2025).
struct DeltaNetConfig {
  Index conv_width = 4;
  Index key_dim = 128, value_dim = 128;    // of a head
  Index key_heads = 16, value_heads = 32;  // a key head serves value_heads / key_heads

  /// Width of all heads' keys, as of their queries.
  Index keys() const { return key_heads * key_dim; }
  Index values() const { return value_heads * value_dim; }
  /// Channels that the convolution mixes: q, k, v.
  Index channels() const { return 2 * keys() + values(); }
  /// Rows of in_proj: q, k, v, z, beta, alpha.
  Index projected() const { return channels() + values() + 2 * value_heads; }
};

/// The layers that --model mamba stacks, and the layers of a GPT that are no attention.
struct HybridConfig {
  /// The pattern that was given or that the ratios make, one letter a layer of one residual branch:
  /// --hybrid-override-pattern (0.14: M * -) or --hybrid-layer-pattern, without bars and depths;
  /// empty: transformer layers.
  std::string pattern;
  /// Letters of each depth of multi-token prediction; empty: one transformer layer.
  std::string depth_pattern;
  /// --is-hybrid-model: layers that write into the residual stream start at std / sqrt(L) instead
  /// of std / sqrt(2 L).
  bool one_branch_a_layer = false;
  MambaConfig mamba;
  DeltaNetConfig delta_net;
  /// Layers of a GPT with a delta net in place of attention; empty: none.
  std::vector<bool> delta_layers;
};

}  // namespace mpitron::config
