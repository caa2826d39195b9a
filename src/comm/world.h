#pragma once
#include <functional>
#include <memory>

#include "comm/group.h"

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

  /// All ranks.
  std::shared_ptr<Group> all();
};

/// A world of one process.
std::unique_ptr<World> make_single_world();

/// Rank `rank` of `size` without peers: groups exist, operations end at once and move nothing. For
/// planning, and for measuring what one rank does.
std::unique_ptr<World> make_fake_world(Index rank, Index size);

/// Calls `body` on `size` threads, each a rank of one world; ends when all have. The first
/// exception is thrown again here, after the other ranks were told to stop waiting.
void run_thread_world(Index size, const std::function<void(World&)>& body);

}  // namespace mpitron::comm
