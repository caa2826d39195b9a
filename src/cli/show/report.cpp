#include "cli/checkpoint_path.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/program.h"
#include "data/index/input_files.h"
#include "report/pages.h"
#include "report/run_folder.h"
#include "report/run_progress.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"

// `mpitron report RUN_DIR...`: one page with the curves, figures and options of runs. The page
// holds the numbers and the chart library, so it opens without a network.

namespace mpitron::cli {

int report(const Arguments& arguments) {
  Arguments words = arguments;
  const Arguments paths = take_paths(words);
  bool json = false;
  std::string output = "report.html", title = "Training runs";
  std::string chart_library = installed("chart.min.js").value_or(report::kChartLibrary);
  Index points = 2000;
  Flags flags("report",
              "Writes one self-contained HTML page with the curves, figures and options of runs, "
              "laid over each other. RUN_DIR is what --tensorboard-dir named.",
              "RUN_DIR...");
  flags.option("--output", output, "the page");
  flags.option("--title", title, "its title");
  flags.option("--points", points, "values kept of each curve; 0: all");
  flags.option("--chart-library", chart_library, "Chart.js 3, which the page takes in");
  flags.flag("--json", json, "print the same numbers as one JSON object, and write no page");
  if (!flags.parse(words)) {
    return 0;
  }
  if (paths.empty()) {
    throw_usage("report: no run given: mpitron report RUN_DIR..., what --tensorboard-dir named");
  }
  if (points < 0) {
    throw_usage("report: --points {}: it must be 0 (all) or more", points);
  }
  const auto runs = report::read_runs(paths);
  const std::string numbers = report::runs_json(runs, static_cast<std::size_t>(points),
                                                std::filesystem::file_time_type::clock::now());
  if (json) {
    log::print(numbers);
    return 0;
  }
  std::vector<std::string> inputs = {chart_library};
  for (const report::RunFolder& run : runs) {
    inputs.insert(inputs.end(), run.files.begin(), run.files.end());
  }
  data::refuse_to_replace(inputs, "--output", output);
  AtomicFile file(output);
  file.write(report::run_page(title, numbers, report::read_chart_library(chart_library)));
  file.commit();
  log::print(fmt::format("{}: {} {}; open it in a browser", output, runs.size(),
                         runs.size() == 1 ? "run" : "runs"));
  return 0;
}

}  // namespace mpitron::cli
