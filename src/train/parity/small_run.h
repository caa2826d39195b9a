#pragma once
#include "config/run_config.h"

namespace mpitron::train {

/// Iterations of a comparison of layouts.
inline constexpr Index kParityIterations = 3;

/// Makes a run narrow and short, but leaves what a layout may get wrong: its parallel sizes (but
/// for more replicas than it takes), chunks, experts and dropout.
config::RunConfig small_run(config::RunConfig run);

/// Removes everything that belongs to a layout. The microbatches of DINO become those of all
/// replicas together, as its centre moves with each: one rank moves it as often as the layout does.
config::RunConfig on_one_rank(config::RunConfig run);

}  // namespace mpitron::train
