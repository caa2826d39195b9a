#include "comm/shared/shared_message.h"

#include "comm/groups/stream_copy.h"

// Messages between two ranks of a node: the sender posts the address of its data in a ring of the
// pair, the receiver copies from there and counts. There is no copy in between.

namespace mpitron::comm {
/// Steps until the receiver has copied: the sender's memory is read in place.
bool SharedSend::step() {
  members_.spaces.check_alive();
  const Index rank = members_.group.rank();
  const std::uint64_t received = members_.table.received(rank, request_.peer).load(kAcquire);
  const std::uint64_t sent = members_.table.sent(rank, request_.peer).load(kAcquire);
  if (!posted_ && sent == sequence_ && sequence_ < received + SharedTable::kDepth) {
    post();
  }
  return received > sequence_;
}

/// Posts in the ring, which holds a fixed number of sends to one receiver; a further one waits for
/// a slot.
void SharedSend::post() {
  const Index rank = members_.group.rank();
  exposure_ = SharedExposure(members_.spaces, request_.input);
  members_.table.message(sequence_, rank, request_.peer) = {.kind = CollectiveKind::send,
                                                            .dtype = request_.input.dtype,
                                                            .reduction = Reduction::sum,
                                                            .peer = request_.peer,
                                                            .numel = request_.input.numel(),
                                                            .data = exposure_.address()};
  members_.table.sent(rank, request_.peer).store(sequence_ + 1, kRelease);
  posted_ = true;
}

/// Copies from where the sender's memory lies, then says so.
bool SharedReceive::step() {
  members_.spaces.check_alive();
  const Index rank = members_.group.rank();
  auto& received = members_.table.received(request_.peer, rank);
  if (done_) {
    return true;
  }
  if (members_.table.sent(request_.peer, rank).load(kAcquire) <= sequence_ ||
      received.load(kAcquire) != sequence_) {
    return false;
  }
  const Posting& message = members_.table.message(sequence_, request_.peer, rank);
  MPITRON_CHECK(message.numel == request_.output.numel() && message.dtype == request_.output.dtype,
                members_.group.name(), message.numel, request_.output.numel());
  const Index bytes = request_.output.bytes();
  copy_part(request_.output.data, members_.reach(request_.peer, message), bytes, bytes);
  received.store(sequence_ + 1, kRelease);
  return done_ = true;
}

}  // namespace mpitron::comm
