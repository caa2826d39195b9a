#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/command.h"
#include "config/run_config.h"
#include "report/scaling_table.h"
#include "report/study.h"
#include "report/svg_plot.h"

namespace mpitron::cli {

/// How the points of a study are started.
struct ScalingLaunch {
  std::filesystem::path output;           // each point writes into a folder of its name there
  bool submit = false;                    // as jobs by sbatch, instead of mpirun on this machine
  std::string sbatch_flags;               // further ones, separated by blanks
  std::string script = "jobs/launch.sh";  // starts the ranks of a job
};

/// A program with its arguments and what it needs in its environment.
struct CommandLine {
  std::map<std::string, std::string> environment;
  Arguments words;
};

/// The command of a point.
CommandLine point_command(const ScalingLaunch& launch, const report::Study& study,
                          const report::StudyPoint& point);

/// Returns the command as one would type it: `OMP_NUM_THREADS=1 mpirun -n 2 ...`.
std::string shell_line(const CommandLine& command);

/// Runs it and waits; its output goes to the file `log`. The exit code, 128 + the signal that ended
/// it. Error(environment) where it cannot be started.
int run_command(const CommandLine& command, const std::filesystem::path& log);

/// Files of `mpitron plan` whose prediction a scaling report is compared with; empty: none.
struct ScalingModel {
  std::string machine;  // of mpitron plan: name or file
  std::string stack = "mpitron";
  std::string published;  // table of published steps
};

/// The model's iteration of a point, with its largest parts; on a measured machine ranks share
/// cores as `outlook` says.
void add_model(const ScalingModel& model, const config::RunConfig& run,
               report::PointOutlook& outlook);

/// Published TFLOP/s per GPU of models between half and twice the size of the study's, a line for
/// each source.
std::vector<report::PlotLine> published_lines(const ScalingModel& model,
                                              const std::vector<config::RunConfig>& points);

/// Returns words as a line that a shell takes apart again.
std::string joined(const Arguments& words);

}  // namespace mpitron::cli
