#include "cli/job/scaling_study.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/show/plan_commands.h"
#include "plan/calibration/calibration.h"
#include "plan/model/flops_formula.h"
#include "plan/published/prediction.h"
#include "plan/search/report.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Command lines of a scaling study's points (mpirun on this machine, sbatch for jobs), their
// execution, and the figures that the report compares runs with: the model of `mpitron plan` and
// published steps.

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

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyz"
                                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789-_=+,./:@%") == std::string::npos;
  if (plain) {
    return word;
  }
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return text + "'";
}

std::string joined(const Arguments& words) {
  std::string line;
  for (const std::string& word : words) {
    line += line.empty() ? "" : " ";
    line += quoted(word);
  }
  return line;
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

CommandLine point_command(const ScalingLaunch& launch, const report::Study& study,
                          const report::StudyPoint& point) {
  const Arguments training = training_words(launch, study, point);
  return launch.submit ? sbatch(training, launch, study, point) : mpirun(training, study, point);
}

std::string shell_line(const CommandLine& command) {
  std::string line;
  for (const auto& [name, value] : command.environment) {
    line += fmt::format("{}={} ", name, quoted(value));
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

/// A machine file of `doctor --calibrate` has measured parts, whose replay gives the step; any
/// other machine has rates, from which plan::step_time estimates it.
void add_model(const ScalingModel& model, const config::RunConfig& run,
               report::PointOutlook& outlook) {
  if (model.machine.empty()) {
    return;
  }
  plan::Library library;
  const plan::Machine machine = find_machine(library, model.machine);
  const plan::Job job = plan::make_job(run);
  const auto set_seconds = [&](double seconds) {
    outlook.model_seconds = seconds;
    outlook.model_tokens_per_second = job.global_batch() * job.sequence() / seconds;
    outlook.model_tflops =
        plan::step_flops(job, plan::FlopsFormula::megatron) / (seconds * job.ranks() * 1e12);
  };
  if (machine.measured != nullptr) {
    const plan::PlayedJob step = plan::measured_step(*machine.measured, job.run);
    const double busy = step.busy / outlook.core_share, waiting = step.seconds - step.busy;
    set_seconds(busy + waiting);
    outlook.model_parts = fmt::format("own work {:.4f} s, waiting {:.4f} s", busy, waiting);
    return;
  }
  const plan::StepTime time = plan::step_time({machine, find_stack(library, model.stack), job});
  set_seconds(time.seconds());
  std::vector<plan::NamedSeconds> parts = plan::parts_of(time);
  std::ranges::sort(parts, std::greater{}, &plan::NamedSeconds::seconds);
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < kShown; ++i) {
    outlook.model_parts += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", parts[i].name,
                                       100 * parts[i].seconds / time.seconds());
  }
}

/// Returns a line for each source, of models about as large as the points'. Rows whose layout their
/// source does not tell are left out: their FLOP/s could not be compared.
std::vector<report::PlotLine> published_lines(const ScalingModel& model,
                                              const std::vector<config::RunConfig>& points) {
  std::map<std::string, report::PlotLine> lines;
  if (model.published.empty() || points.empty()) {
    return {};
  }
  double least = plan::make_job(points.front()).weights(), most = least;
  for (const config::RunConfig& point : points) {
    const double weights = plan::make_job(point).weights();
    least = std::min(least, weights);
    most = std::max(most, weights);
  }
  const plan::Library library;
  for (const plan::PublishedRow& row : plan::read_published_table(model.published)) {
    const auto machine = library.machine(row.hardware);
    if (!row.layout_known || !machine) {
      continue;
    }
    const plan::Job job = plan::make_job(row.run, row.practice);
    if (job.weights() < least / 2 || job.weights() > 2 * most) {
      continue;
    }
    report::PlotLine& line = lines[row.source];
    line.name = row.source;
    line.elsewhere = true;
    line.joined = false;
    line.points.emplace_back(job.ranks(),
                             plan::step_flops(job, plan::FlopsFormula::megatron) /
                                 (plan::measured_seconds(row, *machine) * job.ranks() * 1e12));
  }
  std::vector<report::PlotLine> result;
  for (auto& [source, line] : lines) {
    std::ranges::sort(line.points);
    result.push_back(std::move(line));
  }
  return result;
}

}  // namespace mpitron::cli
