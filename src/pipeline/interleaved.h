#pragma once
#include "pipeline/schedule.h"

namespace mpitron::pipeline {

/// A forward of the interleaved order; the same slot of the backwards has the chunks reversed.
struct ScheduleSlot {
  Index microbatch = 0;
  Index chunk = 0;
  bool operator==(const ScheduleSlot&) const = default;
};

/// The forwards of every stage, in order: groups of microbatches, each through all chunks. The last
/// group may be shorter. Source: get_schedule_table of the reference.
std::vector<ScheduleSlot> interleaved_table(const ScheduleOptions& options);

/// Forwards before the first backward of a stage: 2 (stages - stage - 1) + (chunks - 1) group, at
/// most all. `extra`: 1 where the expert exchange overlaps with the other direction's computations.
Index interleaved_warmup(const ScheduleOptions& options, Index stage, Index extra = 0);

/// Computations of one stage: warm-up forwards, then forward and backward by turns, then the
/// remaining backwards. Source: forward_backward_pipelining_with_interleaving of the reference and
/// Narayanan et al. 2021, section 2.2.
ActionList interleaved_order(const ScheduleOptions& options, Index stage);

}  // namespace mpitron::pipeline
