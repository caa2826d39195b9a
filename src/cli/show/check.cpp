#include <algorithm>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/show/memory_estimate.h"
#include "cli/training_words.h"
#include "config/global_batch_size.h"
#include "config/parse/report.h"
#include "config/values/option_help.h"
#include "train/session/file_rules.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/machine.h"

// `mpitron check`: what a training run would refuse, without starting it. Flags first; files only
// where the flags are right, because rules on files read values that flags decide.

namespace mpitron::cli {
namespace {

constexpr const char* kCheckHelp =
    "usage: mpitron check [COMMAND] OPTIONS [--json] [--no-files]\n\nChecks a training run without "
    "starting "
    "it: first its options, then the files that they name (tokenizer, corpora, checkpoint, folders "
    "to write to). --no-files checks options alone. Exit code 0: the run may start, 2: options are "
    "wrong, 4: files are.\n";

/// Bytes from which on a need is taken for a mistyped size: the run's machine may have far more
/// memory than the one that checks it.
constexpr Index kLargestMachine = Index{2'000'000'000'000};

std::string summary(const config::RunConfig& run) {
  const config::ModelConfig& m = run.model;
  return fmt::format(
      "OK: {} layers, hidden {}, {} heads, sequence {}; batch {} = {} x {} x {}; {} iterations",
      m.num_layers, m.hidden_size, m.num_attention_heads, m.seq_length,
      run.training.global_batch_size, run.training.micro_batch_size,
      run.parallel.data_parallel_size,
      config::num_microbatches(run.training, run.parallel.data_parallel_size),
      run.training.train_iters);
}

/// Prints what the fullest rank needs, and a warning where this machine has less. The machine may
/// be another than the run's, and a GPU's memory is not known here, so nothing is refused.
void print_memory(const config::RunConfig& run) {
  refuse_absurd_memory(estimate_memory(run).total(), std::max(machine_memory(), kLargestMachine));
  const MemoryEstimate memory = replay_memory(run);
  log::print(to_text(memory));
  const std::string shortage = memory_shortage(memory, 1, machine_memory());
  if (run.training.device != "cuda" && !shortage.empty()) {
    log::print("warning: " + shortage);
  }
}

void print_verdict(const config::ParsedRun& parsed) {
  for (const std::string& notice : parsed.notices) {
    log::print("notice: " + notice);
  }
  if (!parsed.findings.empty()) {
    log::print(config::to_text(parsed.findings));
    return;
  }
  log::print(summary(parsed.run));
  print_memory(parsed.run);
}

}  // namespace

int check(const Arguments& arguments) {
  if (const auto help = config::requested_help(arguments)) {
    log::print(kCheckHelp + *help);
    return static_cast<int>(ExitCode::success);
  }
  Arguments flags = training_options(arguments);
  const bool json = take_flag(flags, "--json");
  const bool flags_alone = take_flag(flags, "--no-files");
  config::ParsedRun parsed = config::parse_run(flags);
  ExitCode code = ExitCode::success;
  if (!flags_alone) {
    parsed = config::with_training_rules(std::move(parsed));
  }
  if (!parsed.findings.empty()) {
    code = ExitCode::usage;
  } else if (!flags_alone) {
    parsed.findings = train::check_files(parsed.run);
    code = parsed.findings.empty() ? ExitCode::success : ExitCode::data;
  }
  if (json) {
    log::print(config::check_json(parsed));
  } else {
    print_verdict(parsed);
  }
  return static_cast<int>(code);
}

}  // namespace mpitron::cli
