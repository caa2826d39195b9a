#include "cli/command.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <thread>

#include "cli/commands.h"
#include "config/values/finding.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/faults.h"

// The way from argv to a sub-command and from an exception to an exit code (docs/exit-codes.md).
// Nothing below this file ends the process by itself.

namespace mpitron::cli {
namespace {

void print_help() {
  log::print("usage: mpitron COMMAND [OPTIONS]\n\ncommands:");
  std::size_t width = 0;
  for (const Command& command : commands()) {
    width = std::max(width, std::string_view(command.name).size());
  }
  for (const Command& command : commands()) {
    log::print(fmt::format("  {:<{}} {}", command.name, width, command.summary));
  }
  log::print("\n`mpitron COMMAND --help` explains one command.");
}

/// Accepts --version anywhere, but -v and -V only where they cannot be the value of another option.
bool asks_for_version(const Arguments& words) {
  return words[0] == "-v" || words[0] == "-V" || (words.size() == 2 && words[1] == "-v") ||
         std::ranges::find(words, "--version") != words.end();
}

/// Names the command of a Megatron script: `pretrain_gpt.py` is `pretrain-gpt`, with any folder in
/// front.
std::string command_of_script(std::string word) {
  if (const std::size_t slash = word.rfind('/'); slash != std::string::npos) {
    word.erase(0, slash + 1);
  }
  if (word.ends_with(".py")) {
    word.erase(word.size() - 3);
  }
  std::replace(word.begin(), word.end(), '_', '-');
  if (word == "preprocess-data") {
    return "preprocess";
  }
  return word;
}

/// Throws Error(usage) with the nearest command by spelling, or that of a Megatron script.
[[noreturn]] void refuse_unknown(const std::string& name) {
  const std::vector<std::string_view> names = names_of(commands());
  std::string nearest = config::did_you_mean(name, names);
  if (const std::string script = command_of_script(name);
      nearest.empty() && std::ranges::find(names, script) != names.end()) {
    nearest = "; did you mean " + script + "?";
  }
  throw_usage("unknown command '{}'{}", name,
              nearest.empty() ? "; `mpitron --help` lists the commands" : nearest);
}

int dispatch(const Arguments& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_help();
    return static_cast<int>(words.empty() ? ExitCode::usage : ExitCode::success);
  }
  if (asks_for_version(words)) {
    return version({});
  }
  const std::string& name = words[0];
  const auto all = commands();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Command& c) { return c.name == name; });
  if (found == all.end()) {
    refuse_unknown(name);
  }
  return found->run({words.begin() + 1, words.end()});
}

/// Prints each error once: one that all ranks have (`on_all_ranks`) is rank 0's to tell, any other
/// its own rank's. Exceptions of the standard library get the exit code of what they mostly mean:
/// file system errors data, no memory the environment, all others a defect.
int dispatch_and_report(const Arguments& words) {
  try {
    return dispatch(words);
  } catch (const Error& error) {
    if (!error.on_all_ranks() || log::rank() == 0) {
      log::error("{}", error.what());
    } else {
      // The first rank that leaves ends the job: let rank 0 tell why.
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    return static_cast<int>(error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    log::error("{}: {}", error.path1().string(), error.code().message());
    return static_cast<int>(ExitCode::data);
  } catch (const std::bad_alloc&) {
    log::error("no memory is left; `mpitron check` tells how much a training run needs");
    return static_cast<int>(ExitCode::environment);
  } catch (const std::exception& error) {
    log::error("internal error: {}", error.what());
    return static_cast<int>(ExitCode::failure);
  }
}

}  // namespace

std::vector<std::string_view> names_of(std::span<const Command> commands) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) {
    names.push_back(command.name);
  }
  return names;
}

int run(int argc, char** argv) {
  tell_faults();
  const int code = dispatch_and_report({argv + 1, argv + argc});
  // A run goes on without its log; a script that reads it must learn that it is not whole.
  if (std::ferror(stdout) != 0) {
    log::error(
        "standard output is not complete: a write to it failed (is its disk full, or has its "
        "reader "
        "ended?)");
    return code == 0 ? static_cast<int>(ExitCode::data) : code;
  }
  return code;
}

}  // namespace mpitron::cli
