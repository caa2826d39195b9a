#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace mpitron::cli
