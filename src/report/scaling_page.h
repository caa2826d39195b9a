#pragma once
#include <string>
#include <vector>

#include "report/scaling_table.h"

namespace mpitron::report {

/// One self-contained page without scripts: plots of tokens/s, efficiency and utilisation over the
/// ranks, measured, predicted and published, and the table.
std::string scaling_page(const Study& study, const std::vector<ScalingRow>& rows);

}  // namespace mpitron::report
