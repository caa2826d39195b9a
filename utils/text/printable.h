#pragma once
#include <string>
#include <string_view>

namespace mpitron {

/// Whether a terminal takes part of the text for a command: a control character other than a line
/// feed and a tabulator.
bool holds_controls(std::string_view text);

/// The text with each of those as U+FFFD, so that what stands in a file cannot move a cursor, set a
/// title or type at whoever reads it.
std::string without_controls(std::string_view text);

}  // namespace mpitron
