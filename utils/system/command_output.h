#pragma once
#include <string>
#include <vector>

namespace mpitron {

struct CommandOutput {
  int code = 0;      // exit code; 127: there is no such program; 128 + signal: it was killed
  std::string text;  // of stdout and stderr
};

/// Runs a program (looked up on the PATH) without input and waits for its end.
CommandOutput command_output(const std::vector<std::string>& words);

}  // namespace mpitron
