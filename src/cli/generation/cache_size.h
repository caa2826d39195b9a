#pragma once
#include "config/model_config.h"

namespace mpitron::cli {

/// How many blocks of keys and values a rank's cache has.
struct CacheSize {
  const config::ModelConfig& config;
  Index layers = 1;  // of this rank's stage
  Index block_size = 16;
  Index tensor_ranks = 1, context_ranks = 1;

  /// Of all ranks that share sequences together.
  Index block_bytes() const;
  /// For `requests` sequences of full length, or what fits into `gigabytes` of each rank; with 0 at
  /// most 90 % of the memory that is left. Error(usage) with both numbers where that is less than
  /// one sequence needs.
  Index blocks(Index requests, double gigabytes) const;
};

}  // namespace mpitron::cli
