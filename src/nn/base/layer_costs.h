#pragma once
#include "config/model_config.h"

namespace mpitron::nn {

/// What half a layer costs on all ranks together, by the reference's formulas where it has one.
struct LayerCosts {
  double multiply_adds = 0;  // forward, per token; causal attention sees half the keys
  double weights = 0;        // without biases, norms of queries and keys, and routers
  double kept_bytes = 0;  // per token, 16 bits, for backward, with selective recomputation and the
                          // norm in front (Korthikanti et al. 2022)
  double state = 0;       // numbers carried from token to token, after seq_length tokens

  LayerCosts& operator+=(const LayerCosts& other) {
    multiply_adds += other.multiply_adds;
    weights += other.weights;
    kept_bytes += other.kept_bytes;
    state += other.state;
    return *this;
  }
};

/// Bytes that a branch keeps beside its own work: the input of its norm and the output, which the
/// first product reads, and the mask of its dropout.
inline double residual_bytes(const config::ModelConfig& model) {
  return static_cast<double>((2 + 2 + 1) * model.hidden_size);
}

}  // namespace mpitron::nn
