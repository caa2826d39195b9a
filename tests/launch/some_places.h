#pragma once

#include "launch/rank_place.h"

// Ranks with and without cores of their own.

namespace mpitron::launch {

using Lines = std::vector<std::string>;

/// A rank bound to some cores of one hardware thread each.
inline RankPlace bound(const std::string& node, std::vector<Index> cores, Index numa,
                       Index threads) {
  const auto processors = static_cast<Index>(cores.size());
  return {.node = node,
          .cpus = {.cores = std::move(cores), .numa = {numa}, .processors = processors},
          .threads = threads,
          .gpu = ""};
}

inline RankPlace unbound(const std::string& node, Index threads) {
  return {.node = node,
          .cpus = {.cores = {0, 1, 2, 3}, .numa = {0}, .processors = 8, .whole_machine = true},
          .threads = threads,
          .gpu = ""};
}

}  // namespace mpitron::launch
