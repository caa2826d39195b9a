// Starts operations of ranks on different nodes. An operation is a state machine that the engine
// steps whenever somebody waits, so several may be under way without threads.
#include "comm/messages/message_group.h"

#include "comm/messages/message_collective.h"

namespace mpitron::comm {
namespace {

/// A send or a receive: messages of one tag match in order, so they need no numbers.
class Message final : public Operation {
 public:
  /// Messages between two ranks match in their order, so they share one tag.
  Message(const MessageMembers& members, const Request& request)
      : transfers_(members, members.message_tag()) {
    if (request.kind == CollectiveKind::send) {
      transfers_.send(request.peer, request.input.data, request.input.bytes());
    } else {
      transfers_.receive(request.peer, request.output.data, request.output.bytes());
    }
  }
  bool step() override { return transfers_.done(); }
  std::vector<Index> absent() const override {
    std::vector<Index> ranks;
    transfers_.add_absent(ranks);
    return ranks;
  }

 private:
  MessageTransfers transfers_;
};

/// Chooses the operation. Reductions differ by how results travel back; gathers and exchanges by
/// their counts alone.
std::shared_ptr<Operation> make_operation(MessageMembers& members, const Request& request,
                                          std::uint64_t sequence) {
  switch (request.kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
      return make_message_reduction(members, request, sequence);
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
      return make_message_exchange(members, request, sequence);
    case CollectiveKind::broadcast:
      return make_message_broadcast(members, request, sequence);
    case CollectiveKind::barrier:
      return make_message_barrier(members, request, sequence);
    case CollectiveKind::send:
    case CollectiveKind::receive:
      return std::make_shared<Message>(members, request);
  }
  return nullptr;
}

}  // namespace

MessageGroup::MessageGroup(std::string name, std::vector<Index> ranks, Index rank, Fabric fabric,
                           int number)
    : Group(std::move(name), std::move(ranks), rank),
      fabric_(std::move(fabric)),
      members_(*this, *fabric_.messages, number),
      numbers_(size()) {}

Work MessageGroup::start(const Request& request) {
  return fabric_.engine->start(make_operation(members_, request, numbers_.next(request)), *this,
                               request);
}

}  // namespace mpitron::comm
