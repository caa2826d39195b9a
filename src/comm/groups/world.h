#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "comm/groups/group.h"
#include "device/allocator.h"

namespace mpitron::comm {

/// The processes of one job as one of them sees them. Owns the transport; groups keep it alive.
class World {
 public:
  virtual ~World() = default;

  virtual Index rank() const = 0;
  virtual Index size() const = 0;
  /// The group of these world ranks, which hold this one; every member calls with the same name
  /// and ranks, nobody else needs to.
  virtual std::shared_ptr<Group> make_group(const std::string& name,
                                            const std::vector<Index>& ranks) = 0;
  /// Moves all started operations on; called between kernels, so that peers need not wait for this
  /// rank's next `wait`.
  virtual void progress() = 0;
  /// Keeps this rank's operations. For worlds that carry some of them by other means.
  virtual std::shared_ptr<ProgressEngine> engine() = 0;

  /// Sets what the program is doing (iteration, part of the step), for whoever reports a failure.
  virtual void set_phase(std::string_view) {}

  /// All ranks.
  std::shared_ptr<Group> all();
  /// This rank's place among those of its node.
  virtual Index local_rank() const { return 0; }
  /// Name of the machine that `rank` runs on.
  virtual std::string host(Index rank) const;
  /// Memory for host tensors, of which collectives need no copy.
  virtual std::unique_ptr<device::Allocator> make_allocator();
};

/// A world of one process.
std::unique_ptr<World> make_single_world();

/// Rank `rank` of `size` without peers: groups exist, operations end at once and move nothing. For
/// planning, and for measuring what one rank does.
std::unique_ptr<World> make_fake_world(Index rank, Index size);

/// Calls `body` on `size` threads, each a rank of one world; ends when all have. The first
/// exception is thrown again here, after the other ranks were told to stop waiting.
void run_thread_world(Index size, const std::function<void(World&)>& body);

/// How a rank's monotonic clock relates to that of rank 0, in nanoseconds.
struct ClockOffset {
  std::int64_t offset = 0;       // to add to the own clock
  std::int64_t uncertainty = 0;  // at most so much is wrong: half the shortest way there and back
  std::int64_t origin = 0;       // rank 0's clock when it began to measure: a zero for all ranks
};

/// Each of `ranks` asks rank 0 for the time, several times, and believes the fastest answer (as
/// NTP does). Called by all ranks of the world with the same list; others return at once.
ClockOffset measure_clock(World& world, const std::vector<Index>& ranks);

}  // namespace mpitron::comm
