#pragma once
#include <vector>

#include "checkpoint/format/file.h"

namespace mpitron::checkpoint {

/// What a tensor's elements look like. NaN and infinities are counted, and are in none of the other
/// figures. Contract: sums in double, block by block of the file in order, so equal files give
/// equal figures on any machine.
struct Statistics {
  Index elements = 0, nans = 0, infinities = 0, zeros = 0;
  double minimum = 0, maximum = 0, mean = 0;
  double deviation = 0;  // of the population
};

/// One for each data set of the file, on all cores.
std::vector<Statistics> statistics(const File& file);

}  // namespace mpitron::checkpoint
