#include "comm/shared/shared_table.h"

namespace mpitron::comm {
namespace {

// Lays the parts of the table out one behind the other: counters, channels between pairs, postings,
// counts. All members compute the same places, so nothing but the memory is shared.
std::size_t square(Index members) {
  return static_cast<std::size_t>(members * members);
}

}  // namespace

std::size_t SharedTable::bytes(Index members) {
  const auto n = static_cast<std::size_t>(members);
  return n * sizeof(Counters) + square(members) * sizeof(Channel) +
         kDepth * (n * sizeof(Posting) + square(members) * sizeof(Index));
}

SharedTable::Channel& SharedTable::channel(Index from, Index to) const {
  auto* channels = reinterpret_cast<Channel*>(reinterpret_cast<Counters*>(memory_) + members_);
  return channels[from * members_ + to];
}

Posting& SharedTable::posting(std::uint64_t sequence, Index member) const {
  auto* postings = reinterpret_cast<Posting*>(&channel(members_, 0));
  return postings[static_cast<Index>(sequence % kDepth) * members_ + member];
}

Index* SharedTable::counts(std::uint64_t sequence, Index member) const {
  auto* counts = reinterpret_cast<Index*>(&posting(0, 0) + kDepth * members_);
  return counts + (static_cast<Index>(sequence % kDepth) * members_ + member) * members_;
}

}  // namespace mpitron::comm
