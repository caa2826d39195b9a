#pragma once
#include "cli/command.h"

namespace mpitron::cli {

/// `mpitron doctor --calibrate --machine-out FILE [--calibrate-seconds N] [FLAGS]`: times kernels
/// and operations among ranks on this machine and writes a machine file for `mpitron plan`; what a
/// file of this name has of other numbers of ranks stays. All ranks call it. Error(usage) for
/// options that it has not.
int calibrate_machine(const Arguments& arguments);

}  // namespace mpitron::cli
