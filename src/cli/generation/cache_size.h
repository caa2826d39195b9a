#pragma once
#include "config/layer_pattern.h"

namespace mpitron::cli {

/// How many blocks of keys and values a rank's cache has, beside the states of layers that keep no
/// keys.
struct CacheSize {
  const config::ModelConfig& config;
  Index first_layer = 0;  // of this rank's stage, from 0
  Index layers = 1;       // of it
  Index block_size = 16;
  Index tensor_ranks = 1, context_ranks = 1;

  /// Of all ranks that share sequences together.
  Index block_bytes() const;
  /// What layers with a state carry of one sequence, twice: in front of a step and behind it.
  Index state_bytes() const;
  /// For `requests` sequences of full length, or what fits into `gigabytes` of each rank; with 0 at
  /// most 90 % of the memory that is left. Error(usage) with both numbers where that is less than
  /// one sequence needs.
  Index blocks(Index requests, double gigabytes) const;

 private:
  /// f(number) of the stage's layers that carry such a state.
  template <class F>
  void for_layers(config::LayerState state, F&& f) const;
};

}  // namespace mpitron::cli
