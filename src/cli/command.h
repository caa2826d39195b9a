#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/values/finding.h"
#include "utils/error.h"
#include "utils/log.h"

// The frame of `mpitron COMMAND`: the table of commands, and helpers for those that have commands
// of their own or take flags beside the options table.

namespace mpitron::cli {

using Arguments = std::vector<std::string>;

/// A sub-command of `mpitron`: `run` gets the arguments behind its name and returns the exit code,
/// or throws Error.
struct Command {
  std::string_view name;
  std::string_view summary;  // one line of `mpitron --help`
  int (*run)(const Arguments& arguments);
};

/// All sub-commands in the order of `mpitron --help`.
std::span<const Command> commands();

std::vector<std::string_view> names_of(std::span<const Command> commands);

/// Runs argv as a user would type it: finds the sub-command, prints an Error once and returns its
/// exit code.
int run(int argc, char** argv);

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

/// Removes a flag that belongs to the command itself, not to the options table; true if it was
/// there.
inline bool take_flag(Arguments& arguments, std::string_view flag) {
  const auto kept = std::remove(arguments.begin(), arguments.end(), flag);
  const bool found = kept != arguments.end();
  arguments.erase(kept, arguments.end());
  return found;
}

/// Every word behind `--flag`, up to the next flag, wherever it is given. Error(usage) where none
/// follows.
inline std::vector<std::string> take_values(Arguments& arguments, const std::string& flag) {
  std::vector<std::string> values;
  for (auto at = arguments.begin(); at != arguments.end();) {
    if (at->starts_with(flag + "=")) {
      values.push_back(at->substr(flag.size() + 1));
      at = arguments.erase(at);
    } else if (*at == flag) {
      const auto end = std::find_if(at + 1, arguments.end(),
                                    [](const std::string& word) { return word.starts_with("--"); });
      if (end == at + 1) {
        throw_usage("{}: a value must follow", flag);
      }
      values.insert(values.end(), at + 1, end);
      at = arguments.erase(at, end);
    } else {
      ++at;
    }
  }
  return values;
}

/// Removes `--flag VALUE` or `--flag=VALUE`; the last of several counts. Error(usage) where the
/// value is missing.
inline std::optional<std::string> take_value(Arguments& arguments, const std::string& flag) {
  std::optional<std::string> value;
  for (std::size_t i = 0; i < arguments.size();) {
    const auto at = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    if (at->starts_with(flag + "=")) {
      value = at->substr(flag.size() + 1);
      arguments.erase(at);
    } else if (*at == flag) {
      if (at + 1 == arguments.end()) {
        throw_usage("{}: a value must follow", flag);
      }
      value = *(at + 1);
      arguments.erase(at, at + 2);
    } else {
      ++i;
    }
  }
  return value;
}

}  // namespace mpitron::cli
