#pragma once
#include "train/model/model_dimensions.h"

namespace mpitron::train {

/// Floating-point operations of one iteration (forward and backward, recompute not counted, causal
/// attention halved) of `batch_size` sequences, by the reference's formula:
/// num_floating_point_operations. It is what the log's throughput means, so it keeps the
/// reference's simplifications.
double flops_per_iteration(const ModelDimensions& model, Index batch_size);

/// What one transformer layer has of it.
double layer_flops_per_iteration(const ModelDimensions& model, bool experts, Index batch_size);

/// What the cross attention of one layer has: `model.seq_length` queries see `keys` positions. The
/// reference's formula, and so the sum above, leaves it out.
double cross_attention_flops_per_iteration(const ModelDimensions& model, Index keys,
                                           Index batch_size);

/// TFLOP/s of one device: `throughput per GPU` of the log.
double throughput_per_device(double flops, double seconds, Index world_size);

}  // namespace mpitron::train
