// Starts operations in shared memory. Collectives are numbered once for the group, messages for
// each peer and direction, so a send may overtake a collective.
#include "comm/shared/shared_group.h"

#include "comm/shared/shared_collective.h"
#include "comm/shared/shared_message.h"

namespace mpitron::comm {

SharedGroup::SharedGroup(std::string name, std::vector<Index> ranks, Index rank, SharedTable table,
                         Fabric fabric)
    : Group(std::move(name), std::move(ranks), rank),
      fabric_(std::move(fabric)),
      members_{*this, table, *fabric_.spaces, fabric_.engine->witness()},
      numbers_(size()) {}

/// Operations take their sequence number in the order of calls, which is the same on all members.
Work SharedGroup::start(const Request& request) {
  const auto begin = [&]<class Kind>() {
    const std::uint64_t number = numbers_.next(request);
    return fabric_.engine->start(std::make_shared<Kind>(members_, request, number), *this, request);
  };
  switch (request.kind) {
    case CollectiveKind::send:
      return begin.operator()<SharedSend>();
    case CollectiveKind::receive:
      return begin.operator()<SharedReceive>();
    default:
      return begin.operator()<SharedCollective>();
  }
}

}  // namespace mpitron::comm
