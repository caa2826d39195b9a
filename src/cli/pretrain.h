#pragma once
#include <string>

#include "cli/command.h"

namespace mpitron::cli {

/// Trains a model of this kind (a choice of --model) with the reference's flags; the exit code.
int pretrain(const std::string& kind, const Arguments& words);

}  // namespace mpitron::cli
