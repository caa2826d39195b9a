#include <algorithm>
#include <filesystem>

#include "cli/flags.h"
#include "cli/show/plan_commands.h"
#include "config/parse/parse.h"
#include "plan/machine/exit_codes.h"
#include "plan/published/prediction.h"
#include "plan/published/refit.h"
#include "plan/search/report.h"
#include "report/run_folder.h"
#include "report/run_progress.h"
#include "utils/log.h"
#include "utils/system/files.h"

// `mpitron plan --fit`: the model of step time corrected by runs. Values of the software are
// changed until predicted steps match measured ones, and written as a stack file.

namespace mpitron::cli {
namespace {

namespace fs = std::filesystem;

/// Values that describe software, of which the first n are fitted.
constexpr const char* kFittedKeys[] = {"elementwise",  "products",       "per-step",
                                       "attention",    "per-microbatch", "launch",
                                       "data-overlap", "tensor-overlap"};
/// Measured runs needed for each fitted value; fewer would let noise decide it.
constexpr std::size_t kRowsForAParameter = 3;
constexpr double kLearned = 0.3;  // below it a value is what was assumed

/// The options of run.json as words of a command line.
Arguments words_of(const std::vector<report::NamedValue>& options) {
  Arguments words;
  for (const auto& [name, value] : options) {
    std::string word = "--" + name;
    std::ranges::replace(word, '_', '-');
    if (value == "false") {
      continue;
    }
    words.push_back(word);
    if (value != "true") {
      words.push_back(value);
    }
  }
  return words;
}

/// Turns a run's folder into a row of measured steps: the median of its iterations but the first.
/// Error(data) for too few.
plan::PublishedRow row_of(const std::string& path, const std::string& machine,
                          const std::string& stack) {
  const report::RunFolder folder = report::read_run(path);
  plan::PublishedRow row;
  row.id = path;
  row.hardware = machine;
  row.source = stack;
  row.run = run_of(folder);
  row.micro_batch = row.run.training.micro_batch_size;
  row.chunks = row.run.parallel.virtual_pipeline_model_parallel_size.value_or(1);
  row.recompute_known = true;
  const auto times = folder.metrics.column("iteration-time");
  if (times.size() < 4) {
    throw_data("{}: {} iterations: at least 4 are needed, of which the first does not count", path,
               times.size());
  }
  row.seconds = report::median_of_last(times, times.size() - 1);
  return row;
}

/// Makes a stack below the named one, with as many values to fit as the rows can tell, at least
/// one.
plan::ParameterFile fitted_file(const plan::Stack& parent, std::size_t rows) {
  plan::ParameterFile file{.name = "fitted", .path = "the fitted stack", .extends = parent.name};
  for (const char* name : kFittedKeys) {
    if (file.fitted.size() >= std::max<std::size_t>(1, rows / kRowsForAParameter)) {
      break;
    }
    const auto key = std::ranges::find_if(
        plan::stack_keys(), [&](const auto& one) { return one.key == std::string(name); });
    file.fitted[name] = std::max(parent.*key->field, 1e-6);
  }
  return file;
}

void print_fit(const plan::FitResult& result) {
  log::print(fmt::format("{} runs: median error {:.1f} % before, {:.1f} % after", result.rows,
                         100 * result.error_before, 100 * result.error_after));
  for (const plan::FittedParameter& one : result.parameters) {
    if (!one.name.starts_with("fitted ")) {
      continue;
    }
    log::print(fmt::format(
        "  {:24} {:.4g} -> {:.4g}{}{}", one.name.substr(7), one.before, one.after,
        one.learned < kLearned ? "  (not determined by these runs: kept)" : "",
        std::abs(one.correlation) > 0.8
            ? fmt::format("  (moves with {}: {:+.2f})", one.correlated_with, one.correlation)
            : ""));
  }
}

std::string stack_text(const plan::ParameterFile& file, const std::string& name) {
  return fmt::format("# Fitted to runs by `mpitron plan --fit`.\nname: {}\nextends: {}\n", name,
                     file.extends);
}

}  // namespace

config::RunConfig run_of(const report::RunFolder& folder) {
  const config::ParsedRun parsed =
      config::parse_run(words_of(folder.description.given), folder.description.world_size);
  return plan::make_job(parsed.run).run;
}

/// Only the software's values are free: values of machines and of other stacks are fixed first.
int plan_fit(const Arguments& arguments) {
  std::vector<std::string> folders;
  std::string machine, stack = "mpitron", path;
  Flags flags("plan --fit", "Fits values of the software to the steps of runs.", "RUN_DIR...");
  flags.option("--fit", folders, "Folders that --tensorboard-dir named");
  flags.option("--machine", machine, "Machine that they ran on: a name or a .yaml file");
  flags.required();
  flags.option("--stack", stack, "Software whose values they are compared with");
  flags.option("--stack-out", path, "Write the values to this file, for --stack");
  if (!flags.parse(arguments)) {
    return static_cast<int>(ExitCode::success);
  }
  plan::Library library;
  const plan::Machine known = find_machine(library, machine);
  std::vector<plan::PublishedRow> rows;
  for (const std::string& folder : folders) {
    rows.push_back(row_of(folder, known.name, "fitted"));
  }
  // Values of machines and of other software stay as they are.
  for (plan::ParameterFiles* files : {&library.machines, &library.stacks}) {
    for (plan::ParameterFile& file : files->all()) {
      for (const auto& [key, value] : file.fitted) {
        file.values[key] = fmt::format("{}", value);
      }
      file.fitted.clear();
    }
  }
  library.stacks.add(fitted_file(find_stack(library, stack), rows.size()));
  const plan::FitResult result = plan::refit(library, rows);
  print_fit(result);
  if (!path.empty()) {
    const plan::ParameterFile& fitted = *library.stacks.find("fitted");
    AtomicFile file(path);
    file.write(
        plan::with_fitted(stack_text(fitted, fs::path(path).stem().string()), fitted.fitted));
    file.commit();
  }
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli
