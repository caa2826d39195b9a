#pragma once
#include "config/vision_config.h"

namespace mpitron::models {

// Schedules of DINO. Iterations count from 0; an epoch is --iter-per-epoch iterations.

/// Returns the temperature of the teacher's softmax: even steps from the first one to the last over
/// the warm-up's epochs, both ends among them, then the last one.
double teacher_temperature(const config::DinoConfig& dino, Index iteration);

/// How much of the teacher stays: from 0.996 to 1 along a cosine over the run's whole epochs, then
/// 1.
double teacher_momentum(const config::DinoConfig& dino, Index iteration);

/// Whether the student's last layer is not updated yet.
bool last_layer_is_held(const config::DinoConfig& dino, Index iteration);

}  // namespace mpitron::models
