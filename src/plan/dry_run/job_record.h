#pragma once
#include <string>
#include <vector>

#include "plan/replay/rank_replay.h"

namespace mpitron::plan {

/// A group of the whole job.
struct JobGroup {
  std::string name;
  std::vector<Index> ranks;
};

/// The doings of all ranks of a job: ranks of a class do the same but for who is in their groups.
struct JobRecord {
  std::vector<RankReplay> classes;
  std::vector<std::size_t> class_of;  // of each rank
  std::vector<JobGroup> groups;
  /// For each rank, the group behind each of those that its class' record names; in the order of
  /// RankRecord::groups.
  std::vector<std::vector<std::size_t>> groups_of;

  /// Returns what this rank does, as its class does it.
  const comm::RankRecord& record(Index rank) const {
    return classes[class_of[static_cast<std::size_t>(rank)]].record;
  }
  /// Returns the place in `groups` of the group that a rank's record calls `own`.
  std::size_t group(Index rank, std::uint32_t own) const {
    return groups_of[static_cast<std::size_t>(rank)][own];
  }
  Index ranks() const { return static_cast<Index>(class_of.size()); }
};

/// Replays one rank of each class: ranks of a pipeline stage whose parts of the gradients need
/// equal sums beside the replicas'. The last rank is replayed as well, as a proof that the classes
/// are right: Error(internal) where it has not done what its class does.
JobRecord record_job(const config::RunConfig& run, const ReplayOptions& options = {});

}  // namespace mpitron::plan
