#pragma once
#include <memory>
#include <string>
#include <vector>

#include "comm/groups/world.h"

namespace mpitron::comm {

/// An action of a rank on one of its groups: it started an operation, or waited for one.
struct GroupEvent {
  std::uint32_t group = 0;  // place in RankRecord::groups
  CollectiveKind kind = CollectiveKind::barrier;
  DType dtype = DType::f32;
  Reduction reduction = Reduction::sum;
  bool waits = false;
  std::uint32_t call = 0;  // counts the operations of this rank; of a wait the one waited for
  /// Root of a broadcast, by its place; of a message how many places behind this rank the other end
  /// stands in the group, which is a ring: so what equals do is equal.
  std::int32_t peer = 0;
  Index sent = 0;  // elements that this rank gives, and gets
  Index received = 0;
  Index label = 0;
  double at = 0;  // RankRecord::seconds then

  bool is_message() const {
    return kind == CollectiveKind::send || kind == CollectiveKind::receive;
  }
  bool operator==(const GroupEvent&) const = default;
};

/// Actions of a rank, in order. Groups of one do nothing.
struct RankRecord {
  struct Member {
    std::string name;
    std::vector<Index> ranks;
  };
  std::vector<Member> groups;
  std::vector<GroupEvent> events;
  double seconds = 0;  // of the rank's own work so far, as far as somebody adds it up
};

/// Describes an operation for a record, without the numbers of its group and call.
GroupEvent event_of(const Group& group, const Request& request);

/// Makes rank `rank` of `size` without peers, whose operations are written down. They end at once
/// and move nothing, but for small tables of numbers (i64, f64) that are gathered: every member
/// then has the same ones, so that a program whose sizes depend on them goes on as among equals.
/// `record` outlives the world and its groups.
std::unique_ptr<World> make_recording_world(Index rank, Index size, RankRecord& record);

}  // namespace mpitron::comm
