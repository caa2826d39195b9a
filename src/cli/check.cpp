#include "cli/commands.h"
#include "cli/take_flag.h"
#include "config/option_help.h"
#include "config/report.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::cli {
namespace {

std::string summary(const config::RunConfig& run) {
  const config::ModelConfig& m = run.model;
  return fmt::format(
      "OK: {} layers, hidden {}, {} heads, sequence {}; batch {} = {} x {} x {}; {} iterations",
      m.num_layers, m.hidden_size, m.num_attention_heads, m.seq_length,
      run.training.global_batch_size, run.training.micro_batch_size,
      run.parallel.data_parallel_size,
      run.training.global_batch_size / run.training.micro_batch_size /
          run.parallel.data_parallel_size,
      run.training.train_iters);
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
  log::print(ok ? summary(parsed.run) : config::to_text(parsed.findings));
  return static_cast<int>(ok ? ExitCode::success : ExitCode::usage);
}

}  // namespace mpitron::cli
