#pragma once
#include <optional>
#include <string>

#include "plan/dry_run/job_record.h"

namespace mpitron::plan {

/// A place where two ranks do not fit together.
struct Mismatch {
  std::string sentence;  // with both ranks, and the operation of each
  Index rank = 0;
  Index other = 0;
};

/// Returns the first rule that does not hold, by group and operation: every rank is in its groups
/// once and all members of a group know the same group; all of them start the same collectives in
/// the same order; what a rank sends to another is what that receives, in the same order.
std::optional<Mismatch> first_mismatch(const JobRecord& job);

/// Returns "all_reduce of 1024 fp32, its operation 17".
std::string describe(const comm::GroupEvent& event);

}  // namespace mpitron::plan
