// Computes DINO's schedules as pure functions of the iteration, so that a resumed run goes on
// alike.
#include "models/vit/dino_schedule.h"

#include <cmath>
#include <numbers>

namespace mpitron::models {
namespace {

Index epoch_of(const config::DinoConfig& dino, Index iteration) {
  return iteration / dino.iterations_per_epoch;
}

}  // namespace

double teacher_temperature(const config::DinoConfig& dino, Index iteration) {
  const Index epoch = epoch_of(dino, iteration), last = dino.temperature_epochs - 1;
  if (epoch > last) {
    return dino.temperature;
  }
  const double share = last > 0 ? static_cast<double>(epoch) / static_cast<double>(last) : 0;
  return dino.first_temperature + share * (dino.temperature - dino.first_temperature);
}

double teacher_momentum(const config::DinoConfig& dino, Index iteration) {
  constexpr double kFirst = 0.996;
  const Index whole = dino.iterations / dino.iterations_per_epoch * dino.iterations_per_epoch;
  if (iteration >= whole) {
    return 1;
  }
  const double share = static_cast<double>(iteration) / static_cast<double>(whole);
  return 1 + 0.5 * (kFirst - 1) * (1 + std::cos(std::numbers::pi * share));
}

bool last_layer_is_held(const config::DinoConfig& dino, Index iteration) {
  return static_cast<double>(epoch_of(dino, iteration)) < dino.frozen_epochs;
}

}  // namespace mpitron::models
