#pragma once
#include <string>
#include <vector>

#include "config/sources/given_option.h"

namespace mpitron::config {

/// Fills the values that follow from others, as the reference's validation does: replaced names,
/// sizes of the model, precision, batch, schedule, data. Never fails: what is missing or
/// contradictory is left for the constraints. `world_size` is the number of ranks of the run
/// (--world-size wins).
void derive_values(OptionValues& values, Index world_size, Reading& report);

/// Returns the replicas of the model: world / (tensor * pipeline * context ranks), at least 1.
Index data_parallel_size(const OptionValues& values);

/// Returns whether there is a loss scale: in half precision, and with the distributed optimizer.
bool scales_loss(const OptionValues& values);

}  // namespace mpitron::config
