#pragma once
#include <functional>
#include <string>

#include "cli/command.h"
#include "train/session/session.h"

namespace mpitron::cli {

/// What a command does with the model when its run has ended well; all ranks call it.
using AfterRun = std::function<void(device::Device&, train::Session&)>;

/// Trains a model of this kind (a choice of --model) with the reference's flags, then calls
/// `after`.
/// Returns the exit code.
int run_model(const std::string& kind, const Arguments& words, const AfterRun& after);

}  // namespace mpitron::cli
