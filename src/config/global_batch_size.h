#pragma once
#include <string_view>

#include "config/training_config.h"

namespace mpitron::config {

/// Returns the sequences of the next step after `consumed_samples`: the full batch, or less during
/// the ramp-up. A ramp-up that makes no sense counts as none.
Index scheduled_batch_size(const TrainingConfig& training, Index consumed_samples);

/// "0:768 250B:1536": from so many tokens on batches of that size, in rising order from 0; tokens
/// are counted in samples, rounded down. Nothing if it is none.
std::optional<std::vector<TrainingConfig::BatchSizeStep>> read_batch_size_steps(
    std::string_view text, Index seq_length);

/// Returns the microbatches of a step of the full batch, of each of so many replicas.
Index num_microbatches(const TrainingConfig& training, Index data_parallel_size);

/// Returns the steps that `train_samples` samples make: through the ramp-up, then by full batches
/// (an incomplete one is dropped).
Index iterations_for_samples(const TrainingConfig& training, Index train_samples);

/// Returns the samples that so many steps take, through the ramp-up.
Index samples_of_iterations(const TrainingConfig& training, Index iterations);

}  // namespace mpitron::config
