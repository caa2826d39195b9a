#pragma once
#include <string>
#include <string_view>

#include "utils/shape.h"

namespace mpitron::train {

/// Host memory of this process, in bytes.
struct ProcessMemory {
  Index resident = 0;       // now
  Index resident_peak = 0;  // highest since the start
};

/// From the text of /proc/PID/status; 0 for what it does not tell.
ProcessMemory parse_process_status(std::string_view status);

/// Of this process; zeros where there is no /proc.
ProcessMemory process_memory();

/// `[Rank 0] (after 100 iterations) memory (MB) | allocated: 12.5 | max allocated: 13.0`, printed
/// once after the first logged interval.
std::string memory_line(Index rank, Index iterations, const ProcessMemory& memory);

}  // namespace mpitron::train
