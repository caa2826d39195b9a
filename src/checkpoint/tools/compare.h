#pragma once
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/format/file.h"

namespace mpitron::checkpoint {

/// How a data set differs between two files.
struct Difference {
  std::string name;
  std::string what;    // "only in A", "shape [4] in A and [5] in B"; empty: elements differ
  Index elements = 0;  // that differ in bits
  double largest = 0;  // absolute difference of those that are numbers on both sides
  std::optional<Index> first{};  // flat index of the first
};

/// Data sets that are not equal bit for bit, by name, on all cores. The layouts that wrote the
/// files do not matter.
std::vector<Difference> differences(const File& a, const File& b);

/// What else differs of the things that decide how training goes on, a sentence each: counters,
/// texts, embedded files. Not the configuration, the layout and the build.
std::vector<std::string> differences(const Header& a, const Header& b);

}  // namespace mpitron::checkpoint
