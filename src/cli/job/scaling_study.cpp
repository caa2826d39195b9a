#include "cli/job/scaling_study.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/job/batch_script.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Command lines of a scaling study's points (mpirun on this machine, sbatch for jobs), and their
// execution.

namespace mpitron::cli {
namespace {

constexpr int kNotFound = 127;

Arguments training_words(const ScalingLaunch& launch, const report::Study& study,
                         const report::StudyPoint& point) {
  Arguments words = {study.command};
  words.insert(words.end(), point.flags.begin(), point.flags.end());
  words.insert(words.end(), {"--tensorboard-dir", (launch.output / point.name).string()});
  return words;
}

/// Builds the command for this machine. Ranks may outnumber the cores, so they must neither spin
/// nor be bound to one core; containers run as root, which Open MPI wants confirmed by two
/// variables.
CommandLine mpirun(const Arguments& training, const report::Study& study,
                   const report::StudyPoint& point) {
  CommandLine command{
      .environment = {{"OMP_NUM_THREADS", fmt::format("{}", study.threads_per_rank)},
                      {"OMP_WAIT_POLICY", "passive"},
                      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                      {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                      {"OMPI_MCA_mpi_yield_when_idle", "1"}},
      .words = {"mpirun", "-n", fmt::format("{}", point.ranks),
                std::filesystem::read_symlink("/proc/self/exe").string()}};
  if (::geteuid() == 0) {
    command.environment.insert(
        {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
  }
  command.words.insert(command.words.end(), training.begin(), training.end());
  return command;
}

/// Builds a job of one step by --wrap; the training's words are quoted once more for that shell.
CommandLine sbatch(const Arguments& training, const ScalingLaunch& launch,
                   const report::Study& study, const report::StudyPoint& point) {
  const std::filesystem::path folder = launch.output / point.name;
  CommandLine command{
      .environment = {},
      .words = {"sbatch", "--job-name=" + point.name, fmt::format("--ntasks={}", point.ranks),
                fmt::format("--cpus-per-task={}", study.threads_per_rank),
                "--output=" + (folder / "log.txt").string()}};
  std::istringstream further(launch.sbatch_flags);
  for (std::string flag; further >> flag;) {
    command.words.push_back(flag);
  }
  Arguments step = {launch.script};
  step.insert(step.end(), training.begin(), training.end());
  command.words.push_back("--wrap=" + joined(step));
  return command;
}

/// Replaces the forked child by the command, with both outputs in `log`; exits with 127, as a shell
/// does, where it cannot be started.
[[noreturn]] void become(const CommandLine& command, const std::filesystem::path& log) {
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  for (const auto& [name, value] : command.environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> words;
  for (const std::string& word : command.words) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  ::_exit(kNotFound);
}

}  // namespace

std::string joined(const Arguments& words) {
  std::string line;
  for (const std::string& word : words) {
    line += line.empty() ? "" : " ";
    line += shell_word(word);
  }
  return line;
}

CommandLine point_command(const ScalingLaunch& launch, const report::Study& study,
                          const report::StudyPoint& point) {
  const Arguments training = training_words(launch, study, point);
  return launch.submit ? sbatch(training, launch, study, point) : mpirun(training, study, point);
}

std::string shell_line(const CommandLine& command) {
  std::string line;
  for (const auto& [name, value] : command.environment) {
    line += fmt::format("{}={} ", name, shell_word(value));
  }
  return line + joined(command.words);
}

int run_command(const CommandLine& command, const std::filesystem::path& log) {
  make_folder("--output", log.parent_path());
  const pid_t child = ::fork();
  if (child < 0) {
    throw_environment("cannot start {}: {}", command.words[0], std::strerror(errno));
  }
  if (child == 0) {
    become(command, log);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code == kNotFound) {
    throw_environment("{}: cannot be started; is it installed, and on the PATH?", command.words[0]);
  }
  return code;
}

}  // namespace mpitron::cli
