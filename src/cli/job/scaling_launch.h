#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "cli/command.h"
#include "report/study.h"

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

/// As one would type it: `OMP_NUM_THREADS=1 mpirun -n 2 ...`.
std::string shell_line(const CommandLine& command);

/// Runs it and waits; its output goes to the file `log`. The exit code, 128 + the signal that ended
/// it. Error(environment) where it cannot be started.
int run_command(const CommandLine& command, const std::filesystem::path& log);

}  // namespace mpitron::cli
