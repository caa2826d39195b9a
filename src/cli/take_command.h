#pragma once
#include <span>
#include <string>

#include "cli/command.h"
#include "config/edit_distance.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::cli {

/// Runs the command that the first word names, of those that belong to `name`.
inline int run_command_of(const std::string& name, std::span<const Command> commands,
                          const Arguments& arguments) {
  std::string help = "usage: mpitron " + name + " COMMAND ...\n";
  for (const Command& command : commands) {
    help += fmt::format("\n  {:<10} {}", command.name, command.summary);
  }
  help += "\n\nmpitron " + name + " COMMAND --help tells more.";
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    log::print(help);
    return static_cast<int>(ExitCode::success);
  }
  for (const Command& command : commands) {
    if (!arguments.empty() && command.name == arguments[0]) {
      return command.run({arguments.begin() + 1, arguments.end()});
    }
  }
  throw_usage("{}: {}\n{}", name,
              arguments.empty() ? "a command is missing"
                                : "unknown command \"" + arguments[0] + "\"" +
                                      config::did_you_mean(arguments[0], names_of(commands)),
              help);
}

}  // namespace mpitron::cli
