#pragma once
#include <filesystem>
#include <functional>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::checkpoint {

/// A measurement of a folder: one file that all writers share against a file for each.
struct IoBench {
  std::filesystem::path folder;
  Index rank = 0;     // of this process among `ranks`
  Index ranks = 1;    // processes that call `run_io_bench` together
  Index threads = 1;  // writers of each
  Index bytes_per_writer = Index{256} << 20;
  Index repetitions = 5;
  std::function<void()> barrier;  // of the processes
};

/// Seconds of each repetition, from the first byte to the last writer's fsync; shared and separate
/// are measured in turns, after one round that does not count.
struct IoTimes {
  std::vector<double> shared, separate;
};

/// Makes and removes files of the names io-bench.*. Error(data) names the file of a failure.
IoTimes run_io_bench(const IoBench& bench);

}  // namespace mpitron::checkpoint
