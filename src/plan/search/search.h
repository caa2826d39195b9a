#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/memory/device_memory.h"
#include "plan/model/layout.h"
#include "plan/time/step_time.h"

namespace mpitron::plan {

/// A layout with what it costs.
struct Candidate {
  Layout layout;
  config::RecomputeConfig recompute;
  RankMemory memory;  // of the fullest rank
  Index fullest_stage = 0;
  StepTime time;
};

/// Sizes that a search may choose, and what is fixed: keys `tp`, `cp`, `pp`, `vp`, `ep`, `etp`,
/// `mbs`, and `fsdp`: 1 where parameters are fully sharded.
struct SearchSpace {
  Job job;  // model, batch and GPUs
  std::map<std::string, Index> fixed;
};

struct SearchResult {
  std::vector<Candidate> fitting;  // fastest first
  std::size_t considered = 0;
  std::optional<Candidate> smallest;  // that needs least memory, where none fits
};

/// Weighs all layouts that divide the model and the batch, and times those whose fullest rank fits
/// in `memory` bytes; as little is recomputed as it takes.
SearchResult search(const Machine& machine, const Stack& stack, const SearchSpace& space,
                    double memory);

/// Returns the layouts of the space, fitting or not.
std::vector<Layout> layouts_of(const Machine& machine, const SearchSpace& space);

/// Returns the run of the space in a candidate's layout.
Job job_of(const SearchSpace& space, const Candidate& candidate);

}  // namespace mpitron::plan
