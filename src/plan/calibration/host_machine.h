#pragma once
#include <string>

#include "plan/machine/measured_costs.h"

namespace mpitron::plan {

/// Returns the text of a machine file of this host: rates that `costs` reached, and all of them as
/// measured, beside what `before` (such a file, or empty) has measured with other numbers of ranks.
/// Error(kBadParameterFile) for a `before` that cannot be read.
std::string host_machine_file(const MeasuredCosts& costs, const std::string& before, Index ranks);

}  // namespace mpitron::plan
