#include "cli/commands.h"
#include "config/option_help.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::cli {

int options(const Arguments& arguments) {
  if (arguments.empty()) {
    log::print(config::help_text());
    return 0;
  }
  if (arguments.size() != 1 || arguments[0] != "--markdown") {
    throw_usage("usage: mpitron options [--markdown]");
  }
  log::print(config::options_markdown());
  return 0;
}

}  // namespace mpitron::cli
