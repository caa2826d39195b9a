#pragma once
#include <memory>

#include "inference/tasks/window_scorer.h"
#include "inference/uncached_engine.h"
#include "train/session/session.h"

namespace mpitron::cli {

/// Scores windows by the passes of a run's model, whatever layout it lies in; its replicas share
/// the windows. All ranks make one and call it alike; `session` outlives it.
inference::WindowScorer make_layout_scorer(device::Device& device, train::Session& session);

/// Generates by the same passes, without a cache; every rank gets the same answers.
std::unique_ptr<inference::Engine> make_layout_engine(train::Session& session);

}  // namespace mpitron::cli
