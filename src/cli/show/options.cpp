#include "cli/commands.h"
#include "config/values/option_help.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::cli {

int options(const Arguments& arguments) {
  if (arguments.empty()) {
    log::print(config::help_text());
    return 0;
  }
  constexpr const char* kUsage = "usage: mpitron options [--markdown]";
  if (arguments[0] == "--help" || arguments[0] == "-h") {
    log::print(kUsage);
    return 0;
  }
  if (arguments.size() != 1 || arguments[0] != "--markdown") {
    throw_usage("{}", kUsage);
  }
  log::print(config::options_markdown());
  return 0;
}

}  // namespace mpitron::cli
