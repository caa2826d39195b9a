#pragma once
#include "comm/groups/group.h"
#include "comm/shared/shared_memory.h"
#include "comm/shared/shared_table.h"

namespace mpitron::comm {

/// What an operation of a shared group works with; the group keeps it alive.
struct SharedMembers {
  const Group& group;
  SharedTable table;
  AddressSpaces& spaces;
  Witness* witness;

  /// What `member` published in this posting of its own.
  std::byte* reach(Index member, const Posting& posting) const {
    return static_cast<std::byte*>(spaces.reach(group.world_rank(member), posting.data));
  }
};

}  // namespace mpitron::comm
