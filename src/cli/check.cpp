#include "cli/commands.h"
#include "cli/memory_estimate.h"
#include "cli/take_flag.h"
#include "config/global_batch_size.h"
#include "config/option_help.h"
#include "config/report.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/machine_memory.h"

namespace mpitron::cli {
namespace {

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

/// A machine may be another one than that of the run, a GPU's memory is not known here.
void print_memory(const config::RunConfig& run) {
  const MemoryEstimate memory = estimate_memory(run);
  log::print(to_text(memory));
  const std::string shortage = memory_shortage(memory, 1, machine_memory());
  if (run.training.device != "cuda" && !shortage.empty()) {
    log::print("warning: " + shortage);
  }
}

}  // namespace

int check(const Arguments& arguments) {
  if (const auto help = config::requested_help(arguments)) {
    log::print(
        "usage: mpitron check OPTIONS [--json]\n\nChecks the options of a training run without "
        "starting it.\n" +
        *help);
    return 0;
  }
  Arguments flags = arguments;
  const bool json = take_flag(flags, "--json");
  const config::ParsedRun parsed = config::parse_run(flags);
  const bool ok = parsed.findings.empty();
  if (json) {
    log::print(config::check_json(parsed));
    return static_cast<int>(ok ? ExitCode::success : ExitCode::usage);
  }
  for (const std::string& notice : parsed.notices) {
    log::print("notice: " + notice);
  }
  if (!ok) {
    log::print(config::to_text(parsed.findings));
    return static_cast<int>(ExitCode::usage);
  }
  log::print(summary(parsed.run));
  print_memory(parsed.run);
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli
