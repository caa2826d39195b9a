#pragma once
#include <string>

#include "pipeline/simulator.h"

namespace mpitron::pipeline {

/// A schedule as text: one row per stage, time to the right, the shortest computation one column.
/// `F3` is the forward of microbatch 3, `B3` its backward (zero bubble: the gradient of its input),
/// `W3` its deferred weight gradient, `F3.1` chunk 1 of it, `=` goes on with a computation, a point
/// is an idle column. Below: makespan, bubble, live tapes. Rows end at `max_characters` if that is
/// not 0.
std::string draw(const Schedule& schedule, const Costs& costs = {}, Index max_characters = 0);

}  // namespace mpitron::pipeline
