#include "comm/shared/shared_table.h"

namespace mpitron::comm {
namespace {

// The parts of the table, in elements of each kind, one behind the other.
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
