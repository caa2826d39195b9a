#pragma once
#include <span>
#include <string>
#include <vector>

namespace mpitron::report {

/// A curve drawn with braille characters (2 x 4 dots each) for a terminal: `rows` lines of at most
/// `columns` columns, the scale at the left. Values are averaged where several share a column of
/// dots; those that are not finite leave a gap. No lines without a finite value or without room.
std::vector<std::string> braille_chart(std::span<const double> values, int columns, int rows);

}  // namespace mpitron::report
