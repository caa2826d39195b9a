// Keeps transfers of one operation until all are done. The order of asking does not matter: each
// transfer ends by itself, and done ones are dropped.
#include "comm/messages/message_transfers.h"

namespace mpitron::comm {

void MessageTransfers::send(Index member, const void* data, Index bytes) {
  const Index to = members_.group().world_rank(member);
  if (bytes > 0) {
    transfers_.emplace_back(to, members_.messages().send(to, tag_, data, bytes));
  }
}

void MessageTransfers::receive(Index member, void* data, Index bytes) {
  const Index from = members_.group().world_rank(member);
  if (bytes > 0) {
    transfers_.emplace_back(from, members_.messages().receive(from, tag_, data, bytes));
  }
}

bool MessageTransfers::done() {
  std::erase_if(transfers_, [](const auto& transfer) { return transfer.second->done(); });
  return transfers_.empty();
}

void MessageTransfers::add_absent(std::vector<Index>& ranks) const {
  for (const auto& [rank, transfer] : transfers_) {
    ranks.push_back(rank);
  }
}

}  // namespace mpitron::comm
