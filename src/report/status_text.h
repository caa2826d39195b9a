#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "report/run_folder.h"

namespace mpitron::report {

/// Returns what `mpitron status` shows: state, progress, rate, losses, the loss curve, slow ranks;
/// lines of at most `columns` columns, the last without a newline.
std::string status_text(const RunFolder& run, std::filesystem::file_time_type now, int columns);

/// Returns these figures as one JSON object; null for what is unknown.
std::string status_json(const RunFolder& run, std::filesystem::file_time_type now);

/// Returns "7 s", "3 min 20 s", "2 h 05 min", "4 d 03 h".
std::string readable_duration(double seconds);

/// Returns a curve drawn with braille characters (2 x 4 dots each) for a terminal: `rows` lines of
/// at most `columns` columns, the scale at the left. Values are averaged where several share a
/// column of dots; those that are not finite leave a gap. No lines without a finite value or
/// without room.
std::vector<std::string> braille_chart(std::span<const double> values, int columns, int rows);

}  // namespace mpitron::report
