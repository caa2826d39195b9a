#pragma once
#include "config/layer_pattern.h"

namespace mpitron::train {

/// Floating-point operations of one iteration (forward and backward, recompute not counted, causal
/// attention halved) of `batch_size` sequences, by the reference's formula:
/// num_floating_point_operations. It is what the log's throughput means, so it keeps the
/// reference's simplifications: of an encoder-decoder the encoder counts.
double flops_per_iteration(const config::ModelConfig& model, Index batch_size);

/// Counts the operations of one layer; of one with cross attention also that, over
/// decoder_seq_length tokens.
double layer_flops_per_iteration(const config::ModelConfig& model, const config::LayerSpec& layer,
                                 Index batch_size);

/// TFLOP/s of one device: `throughput per GPU` of the log.
double throughput_per_device(double flops, double seconds, Index world_size);

}  // namespace mpitron::train
