#include <algorithm>
#include <thread>

#include "cli/checkpoint_path.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/job/scaling_study.h"
#include "cli/show/run_layout.h"
#include "config/parse/parse.h"
#include "report/pages.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"

// `mpitron scaling run|report STUDY.yaml`: the same training on growing numbers of ranks, one after
// the other on this machine or as batch jobs, and a table, CSV and page of their speeds. `report`
// reads what runs have written and starts nothing.

namespace mpitron::cli {
namespace {

namespace fs = std::filesystem;

/// Returns the configuration that a run of the point would have; Error(usage) where the run would
/// be refused or ends within the warm-up that the study leaves out.
config::RunConfig configuration_of(const report::Study& study, const report::StudyPoint& point) {
  const std::string prefix = "pretrain-";
  if (!study.command.starts_with(prefix)) {
    throw_usage("command: '{}' is none of pretrain-gpt, pretrain-bert and pretrain-t5",
                study.command);
  }
  Arguments words = {"--model", study.command.substr(prefix.size())};
  words.insert(words.end(), point.flags.begin(), point.flags.end());
  config::ParsedRun parsed = config::parse_run(words, point.ranks);
  if (!parsed.findings.empty()) {
    throw_usage("point '{}': {}", point.name, config::to_text(parsed.findings));
  }
  if (parsed.run.training.train_iters <= study.warm_up) {
    throw_usage("point '{}': --train-iters {}: it must be above the study's warm-up of {}",
                point.name, parsed.run.training.train_iters, study.warm_up);
  }
  return parsed.run;
}

std::vector<config::RunConfig> configurations_of(const report::Study& study) {
  std::vector<config::RunConfig> runs;
  for (const report::StudyPoint& point : study.points) {
    runs.push_back(configuration_of(study, point));
  }
  return runs;
}

/// Computes what speed can be expected: the pipeline's bubble and, on this machine, the share of a
/// core that each thread gets. Jobs have the cores they ask for.
report::PointOutlook outlook_of(const report::Study& study, const report::StudyPoint& point,
                                const config::RunConfig& run, bool own_machine) {
  report::PointOutlook outlook{.bubble = plan_schedule(run).simulation.bubble()};
  if (own_machine) {
    const auto threads = static_cast<double>(point.ranks * study.threads_per_rank);
    outlook.core_share = std::min(1.0, std::thread::hardware_concurrency() / threads);
  }
  return outlook;
}

void write_whole(const fs::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

/// Writes report.csv and report.html and prints the table; points without metrics.jsonl have empty
/// rows.
void write_report(const report::Study& study, const ScalingLaunch& launch,
                  const ScalingModel& model) {
  std::vector<std::optional<report::RunFolder>> runs;
  std::vector<report::PointOutlook> outlooks;
  const auto configurations = configurations_of(study);
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const report::StudyPoint& point = study.points[i];
    const fs::path folder = launch.output / point.name;
    runs.push_back(fs::exists(folder / "metrics.jsonl") ? std::optional(report::read_run(folder))
                                                        : std::nullopt);
    outlooks.push_back(outlook_of(study, point, configurations[i], !launch.submit));
    add_model(model, configurations[i], outlooks.back());
  }
  const auto rows = report::scaling_rows(study, runs, outlooks);
  make_folder("--output", launch.output);
  write_whole(launch.output / "report.csv", report::scaling_csv(rows));
  write_whole(launch.output / "report.html",
              report::scaling_page(study, rows, published_lines(model, configurations)));
  log::print(report::scaling_text(rows) + "\n" + (launch.output / "report.html").string() +
             ": plots; report.csv beside it");
}

/// Starts the points in order and returns whether all have ended well. One that fails does not stop
/// the next: a study of many hours keeps what it can get.
bool start_points(const report::Study& study, const ScalingLaunch& launch) {
  bool well = true;
  for (const report::StudyPoint& point : study.points) {
    const fs::path folder = launch.output / point.name;
    const fs::path log = folder / (launch.submit ? "submitted.txt" : "log.txt");
    fs::remove(folder / "metrics.jsonl");  // of an earlier study
    log::print(fmt::format("{}: {} {}, {} {}", point.name, point.ranks,
                           point.ranks == 1 ? "rank" : "ranks",
                           launch.submit ? "submitted:" : "log in", log.string()));
    if (const int code = run_command(point_command(launch, study, point), log); code != 0) {
      log::error("{}: ended with code {}; see {}", point.name, code, log.string());
      well = false;
    }
  }
  return well;
}

/// Checks the flags of all points before the first one starts.
int run_study(const report::Study& study, const ScalingLaunch& launch, const ScalingModel& model,
              bool dry_run) {
  configurations_of(study);
  if (dry_run) {
    for (const report::StudyPoint& point : study.points) {
      log::print(shell_line(point_command(launch, study, point)));
    }
    return 0;
  }
  if (launch.submit && !fs::exists(launch.script)) {
    throw_usage("scaling run: {} is not here: call it from the repository, or give --launch-script",
                launch.script);
  }
  const bool well = start_points(study, launch);
  if (launch.submit) {
    log::print("when the jobs have ended: mpitron scaling report, with the same options");
  } else {
    write_report(study, launch, model);
  }
  return static_cast<int>(well ? ExitCode::success : ExitCode::failure);
}

/// Options of both commands.
struct ScalingFlags {
  std::optional<report::Study> study;  // none: --help was asked for
  ScalingLaunch launch;
  ScalingModel model;
  bool dry_run = false;
};

ScalingFlags read_wishes(const std::string& action, const Arguments& arguments) {
  Arguments words = arguments;
  const Arguments paths = take_paths(words);
  ScalingFlags wishes;
  std::string output, launcher = "mpirun";
  Flags flags("scaling " + action,
              "Runs the points of a scaling study and reports them as a table, a CSV file and a "
              "page; `report` only reads what runs have written.",
              "STUDY.yaml");
  flags.option("--output", output, "folder of the runs and the report; scaling/STUDY without it");
  flags.option("--launcher", launcher, "mpirun on this machine, or jobs by sbatch");
  flags.choices({"mpirun", "sbatch"});
  flags.option("--sbatch-flags", wishes.launch.sbatch_flags,
               "further ones: --sbatch-flags='--partition=long'");
  flags.option("--launch-script", wishes.launch.script, "what starts the ranks of a job");
  flags.option("--machine", wishes.model.machine,
               "machine of mpitron plan whose model the report holds against the runs");
  flags.option("--stack", wishes.model.stack, "software of mpitron plan");
  flags.option("--published", wishes.model.published,
               "table of published steps: those of similar size are drawn in grey");
  flags.flag("--dry-run", wishes.dry_run, "check the flags, print the commands, start nothing");
  if (!flags.parse(words)) {
    return wishes;
  }
  if (paths.size() != 1) {
    throw_usage("scaling {0}: one study comes first, given {1}: mpitron scaling {0} STUDY.yaml",
                action, paths.size());
  }
  wishes.study = report::read_study(paths[0]);
  wishes.launch.submit = launcher == "sbatch";
  wishes.launch.output =
      output.empty() ? fs::path("scaling") / fs::path(paths[0]).stem() : fs::path(output);
  return wishes;
}

int run(const Arguments& arguments) {
  const ScalingFlags wishes = read_wishes("run", arguments);
  return wishes.study ? run_study(*wishes.study, wishes.launch, wishes.model, wishes.dry_run) : 0;
}

int report_study(const Arguments& arguments) {
  const ScalingFlags wishes = read_wishes("report", arguments);
  if (wishes.study) {
    write_report(*wishes.study, wishes.launch, wishes.model);
  }
  return 0;
}

}  // namespace

int scaling(const Arguments& arguments) {
  static constexpr Command kCommands[] = {
      {"run", "start every point of a study, then report", run},
      {"report", "write table, CSV and page of what the runs have written", report_study},
  };
  return run_command_of("scaling", kCommands, arguments);
}

}  // namespace mpitron::cli
