#pragma once
#include "cli/command.h"

namespace mpitron::cli {

/// `mpitron plan OPTIONS --machine NAME|FILE [--search]`: predicted step time, memory and cost of a
/// layout, or the best layouts.
int plan_machine(const Arguments& arguments);

}  // namespace mpitron::cli
