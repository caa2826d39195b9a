#pragma once
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/format/file.h"

// What files of checkpoints hold: their elements in figures, and how two of them differ.

namespace mpitron::checkpoint {

/// Figures of a tensor's elements. NaN and infinities are counted, and are in none of the other
/// figures. Contract: sums in double, block by block of the file in order, so equal files give
/// equal figures on any machine.
struct Statistics {
  Index elements = 0, nans = 0, infinities = 0, zeros = 0;
  double minimum = 0, maximum = 0, mean = 0;
  double deviation = 0;  // of the population
};

/// Returns the figures of each data set of the file, computed on all cores.
std::vector<Statistics> statistics(const File& file);

/// A difference of a data set between two files.
struct Difference {
  std::string name;
  std::string what;    // "only in A", "shape [4] in A and [5] in B"; empty: elements differ
  Index elements = 0;  // that differ in bits
  double largest = 0;  // absolute difference of those that are numbers on both sides
  std::optional<Index> first{};  // flat index of the first
};

/// Returns the data sets that are not equal bit for bit, by name, computed on all cores. The
/// layouts that wrote the files do not matter.
std::vector<Difference> differences(const File& a, const File& b);

/// Returns what else differs of the things that decide how training goes on, a sentence each:
/// counters, texts, embedded files. Not the configuration, the layout and the build.
std::vector<std::string> differences(const Header& a, const Header& b);

}  // namespace mpitron::checkpoint
