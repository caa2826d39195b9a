#include "cli/commands.h"
#include "cli/layer_table.h"
#include "cli/take_flag.h"
#include "config/option_help.h"
#include "config/report.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::cli {

int configuration(const Arguments& arguments) {
  constexpr const char* kUsage =
      "usage: mpitron config show OPTIONS [--provenance] [--json] [--layers]";
  if (const auto help = config::requested_help(arguments)) {
    log::print(
        fmt::format("{}\n\nPrints every option with its value, derived ones included, or\n"
                    "the layers that they make (--layers).\n{}",
                    kUsage, *help));
    return 0;
  }
  if (arguments.empty() || arguments[0] != "show") {
    throw_usage("{}", kUsage);
  }
  Arguments flags(arguments.begin() + 1, arguments.end());
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

}  // namespace mpitron::cli
