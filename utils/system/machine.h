#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron {

/// Bytes of memory that this machine has.
Index machine_memory();
/// Bytes that programs could still take.
Index free_memory();

/// Of this machine; empty where the system does not tell.
std::string host_name();

struct CommandOutput {
  int code = 0;      // exit code; 127: there is no such program; 128 + signal: it was killed
  std::string text;  // of stdout and stderr
};

/// Runs a program (looked up on the PATH) without input and waits for its end.
CommandOutput command_output(const std::vector<std::string>& words);

/// Columns of the terminal that an open file is; none where it is none, or does not tell.
std::optional<int> terminal_columns(int descriptor);

/// Lines broken at blanks where they are longer than `columns`. What belongs to a line that begins
/// with a blank, a row of two columns, goes on below its second one, which begins at `second`.
std::string fold_lines(const std::string& text, std::size_t columns, std::size_t second);

/// A help text as it is printed: folded where standard output is a terminal.
std::string for_terminal(const std::string& help, std::size_t second);

/// A foreign library of this program.
struct LibraryVersion {
  std::string name;
  std::string built;    // of the headers at build time; empty: the library does not tell
  std::string running;  // of the library that was loaded; empty: it is part of the program
};

}  // namespace mpitron
