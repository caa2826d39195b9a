#pragma once
#include <string>
#include <vector>

#include "report/scaling_table.h"
#include "report/svg_plot.h"

namespace mpitron::report {

/// One self-contained page without scripts: plots of tokens/s, efficiency and utilisation over the
/// ranks, measured, predicted and published, and the table.
/// `elsewhere`: what others have published of models of similar size, TFLOP/s per rank over ranks.
std::string scaling_page(const Study& study, const std::vector<ScalingRow>& rows,
                         const std::vector<PlotLine>& elsewhere = {});

}  // namespace mpitron::report
