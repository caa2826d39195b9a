#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "comm/groups/world.h"
#include "config/training_config.h"
#include "utils/numbers/shape.h"

namespace mpitron::train {

/// Iterations that only advance the data and the counters (--iterations-to-skip).
class SkipIterations {
 public:
  /// In any order, repetitions allowed; Error(usage) for one below 1.
  explicit SkipIterations(std::span<const Index> iterations);
  /// Asked for the iteration about to run, which counts from 1.
  bool contains(Index iteration) const;
  bool empty() const { return iterations_.empty(); }

 private:
  std::vector<Index> iterations_;  // sorted
};

/// Words as on the command line: `12`, lists `3,5` and ranges `100-103`. Error(usage) naming the
/// bad word.
std::vector<Index> parse_iterations(std::span<const std::string_view> words);

/// Returns --iterations-to-skip, and the iterations that rejected_iterations() lists, as rank 0
/// reads them.
SkipIterations skipped_iterations(comm::World& world, const config::TrainingConfig& training);

}  // namespace mpitron::train
