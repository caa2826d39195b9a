#pragma once
#include <optional>
#include <string>

#include "plan/dry_run/job_record.h"

namespace mpitron::plan {

/// Where two ranks do not fit together.
struct Mismatch {
  std::string sentence;  // with both ranks, and the operation of each
  Index rank = 0;
  Index other = 0;
};

/// Every rank is in its groups once and all members of a group know the same group; all of them
/// start the same collectives in the same order; what a rank sends to another is what that
/// receives, in the same order. The first that does not hold, by group and operation.
std::optional<Mismatch> first_mismatch(const JobRecord& job);

/// "all_reduce of 1024 fp32, its operation 17"
std::string describe(const comm::GroupEvent& event);

}  // namespace mpitron::plan
