#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/scaling_table.h"
#include "report/svg_plot.h"

namespace mpitron::report {

/// The file where Debian's libjs-chart.js puts Chart.js 3; it is read when a page is made.
inline constexpr const char* kChartLibrary = "/usr/share/javascript/chart.js/chart.min.js";

/// Returns the text of Chart.js. Error(environment) where it is missing, with the package's name
/// and the option that names another copy.
std::string read_chart_library(const std::filesystem::path& path);

/// Returns one self-contained page: curves of the runs laid over each other, their figures and
/// their configuration. `runs`: of runs_json; `chart_library`: the text of Chart.js.
std::string run_page(std::string_view title, std::string_view runs, std::string_view chart_library);

/// Returns one self-contained page without scripts: plots of tokens/s, efficiency and utilisation
/// over the ranks, measured, predicted and published, and the table. `elsewhere`: what others have
/// published of models of similar size, TFLOP/s per rank over ranks.
std::string scaling_page(const Study& study, const std::vector<ScalingRow>& rows,
                         const std::vector<PlotLine>& elsewhere = {});

}  // namespace mpitron::report
