#pragma once
#include <vector>

#include "config/training_config.h"

namespace mpitron::config {

/// Sequences of the next step after `consumed_samples`: the full batch, or less during the ramp-up.
/// With `decrease_batch_size_if_needed` rounded down to a multiple of micro batch * replicas (the
/// rest is skipped).
Index global_batch_size_at(const TrainingConfig& training, Index data_parallel_size,
                           Index consumed_samples);

/// Steps that `train_samples` samples make: through the ramp-up, then by full batches (an
/// incomplete one is dropped).
Index iterations_for_samples(const TrainingConfig& training, Index train_samples);

}  // namespace mpitron::config
