#include "comm/cuda/nccl_connect.h"

#include <algorithm>
#include <array>

#include "comm/cuda/check_nccl.h"
#include "comm/cuda/nccl_calls.h"

namespace mpitron::comm {
namespace {

TensorView bytes_of(ncclUniqueId* ids, Index n) {
  return {ids, DType::u8, {n * static_cast<Index>(sizeof(ncclUniqueId))}};
}

ncclUniqueId make_id() {
  ncclUniqueId id{};
  check(ncclGetUniqueId(&id), "making an identifier of a group");
  return id;
}

/// The directions of a ring of `n` members in an order in which members that go through their own
/// ones connect most of them at once: pairs of an even first member before those of an odd one, and
/// the pair of the last and the first member of an odd number by itself.
std::vector<std::pair<Index, Index>> directions_in_order(Index n) {
  std::vector<std::pair<Index, Index>> directions;
  const Index pairs = n == 2 ? 1 : n;
  const auto add = [&](Index first) {
    directions.emplace_back(first, (first + 1) % n);
    directions.emplace_back((first + 1) % n, first);
  };
  for (const Index parity : {0, 1}) {
    for (Index first = parity; first + 1 < n; first += 2) {
      add(first);
    }
  }
  if (pairs == n) {
    add(n - 1);
  }
  return directions;
}

/// One byte from the sender (rank 0 of the channel) to the receiver.
void try_out(NcclChannel& channel, bool sender, void* memory, cudaStream_t after) {
  const TensorView byte(memory, DType::u8, {1});
  const Request request = sender ? Request{.kind = CollectiveKind::send, .input = byte}
                                 : Request{.kind = CollectiveKind::receive, .output = byte};
  channel.launch(after, request, [&](ncclComm_t communicator, cudaStream_t stream) {
    call_message(request, sender ? 1 : 0, communicator, stream);
  });
  channel.synchronize();
}

}  // namespace

std::shared_ptr<NcclChannel> connect_members(Group& host, const NcclChannel::Settings& settings) {
  ncclUniqueId id = host.rank() == 0 ? make_id() : ncclUniqueId{};
  host.broadcast(bytes_of(&id, 1), 0).wait();
  return std::make_shared<NcclChannel>(settings, id, static_cast<int>(host.size()),
                                       static_cast<int>(host.rank()));
}

MessageChannels connect_neighbours(Group& host, const NcclChannel::Settings& settings, void* byte,
                                   cudaStream_t stream) {
  const Index n = host.size(), rank = host.rank();
  std::array<ncclUniqueId, 2> own = {make_id(), make_id()};  // to the next and the previous one
  std::vector<ncclUniqueId> ids(static_cast<std::size_t>(2 * n));
  host.all_gather(bytes_of(own.data(), 2), bytes_of(ids.data(), 2 * n)).wait();
  MessageChannels channels;
  for (const auto& [sender, receiver] : directions_in_order(n)) {
    if (rank == sender || rank == receiver) {
      const bool to_next = receiver == (sender + 1) % n;
      const ncclUniqueId& id = ids[static_cast<std::size_t>(2 * sender + (to_next ? 0 : 1))];
      const auto channel = std::make_shared<NcclChannel>(settings, id, 2, rank == sender ? 0 : 1);
      try_out(*channel, rank == sender, byte, stream);
      channels.emplace(std::pair(sender, receiver), channel);
    }
  }
  return channels;
}

}  // namespace mpitron::comm
