#pragma once
#include <cstddef>
#include <optional>
#include <string>

namespace mpitron {

/// Columns of the terminal that an open file is; none where it is none, or does not tell.
std::optional<int> terminal_columns(int descriptor);

/// Lines broken at blanks where they are longer than `columns`. What belongs to a line that begins
/// with a blank, a row of two columns, goes on below its second one, which begins at `second`.
std::string fold_lines(const std::string& text, std::size_t columns, std::size_t second);

/// A help text as it is printed: folded where standard output is a terminal.
std::string for_terminal(const std::string& help, std::size_t second);

}  // namespace mpitron
