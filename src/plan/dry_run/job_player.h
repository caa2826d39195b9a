#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/dry_run/job_record.h"

namespace mpitron::plan {

/// Resources that communicators of one rank share.
enum class DeviceSharing {
  nothing,      // a collective runs when all members have started it
  collectives,  // collectives of a rank run one after the other in the order of their starts,
                // whichever group they are of, as on a device that has room for one
};

/// Rules by which a job is played.
struct PlayOptions {
  DeviceSharing sharing = DeviceSharing::nothing;
  /// Seconds of an operation among so many ranks, once all have started it; none: 0.
  std::function<double(const comm::GroupEvent& event, Index members)> seconds = {};
};

/// The result of playing: either somebody waits for ever, or all times are valid.
struct PlayedJob {
  std::optional<std::string> deadlock;  // who waits for ever, as one sentence
  double seconds = 0;                   // until the last rank is at its end
  double busy = 0;                      // own work of the rank that has most
};

/// Plays the records of a job that match (matching.h): every rank works as long as its record says
/// between its operations, messages wait for their receives, and who waits for an operation goes on
/// when it has ended.
PlayedJob play(const JobRecord& job, const PlayOptions& options = {});

/// Whether the ranks of a job fit together.
struct Proof {
  std::optional<std::string> problem;  // in which they first do not, or who waits for ever
  bool shares_device = false;          // they do with DeviceSharing::collectives, too
};
/// Matches the records, and plays them: first with collectives one after the other, since who gets
/// through that gets through with each in its own time.
Proof prove(const JobRecord& job);

}  // namespace mpitron::plan
