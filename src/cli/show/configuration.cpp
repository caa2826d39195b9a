#include "cli/command.h"
#include "cli/commands.h"
#include "cli/show/run_layout.h"
#include "cli/training_words.h"
#include "config/parse/report.h"
#include "config/values/option_help.h"
#include "utils/error.h"
#include "utils/log.h"

// `mpitron config show`: the value of every option after defaults, derivation and checkpoint, with
// its origin (--provenance), or the layers that the options make (--layers). Values are printed
// even where rules are broken, since they help to see why.

namespace mpitron::cli {
namespace {

constexpr const char* kConfigurationHelp =
    "usage: mpitron config show OPTIONS [--provenance] [--json] [--layers]\n\n"
    "Prints every option with its value, derived ones included, or\n"
    "the layers that they make (--layers).\n";

int show(const Arguments& arguments) {
  if (const auto help = config::requested_help(arguments)) {
    log::print(kConfigurationHelp + *help);
    return 0;
  }
  Arguments flags = training_options(arguments);
  const bool provenance = take_flag(flags, "--provenance");
  const bool json = take_flag(flags, "--json");
  const bool layers = take_flag(flags, "--layers");
  const config::ParsedRun parsed = config::parse_run(flags);
  if (layers && parsed.findings.empty()) {
    log::print(layer_table_text(layer_table(parsed.run)));
    return 0;
  }
  log::print(json ? config::values_json(parsed.values, provenance)
                  : config::values_text(parsed.values, provenance));
  if (!parsed.findings.empty()) {
    throw Error(ExitCode::usage, config::to_text(parsed.findings));
  }
  return 0;
}

}  // namespace

int configuration(const Arguments& arguments) {
  static constexpr Command kCommands[] = {
      {"show", "print every option with its value, derived ones included, or the layers", show},
  };
  return run_command_of("config", kCommands, arguments);
}

}  // namespace mpitron::cli
