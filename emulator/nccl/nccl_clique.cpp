// Compares and matches the calls of a communicator's ranks. A collective runs when all ranks'
// streams have reached it; a message, when both of its ends have been reached.
#include "emulator/nccl/nccl_clique.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "emulator/device/failure.h"

namespace mpitron::emulator {
namespace {

constexpr std::chrono::seconds kPatience{60};  // until ranks that do not come are missed

}  // namespace

void Clique::connect(const ncclConfig_t& config) {
  std::unique_lock lock(mutex_);
  history_.config = config;
  history_.net_name = config.netName == nullptr ? "" : config.netName;
  ++connected_;
  changed_.notify_all();
  if (!changed_.wait_for(lock, kPatience, [this] { return connected_ == size(); })) {
    fail("NCCL: of the " + std::to_string(size()) + " ranks of a communicator " +
         std::to_string(connected_) + " have come");
  }
}

void Clique::disconnect(int rank) {
  const std::lock_guard lock(mutex_);
  if (!reached_[at(rank)].empty() || calls(rank).size() != collectives_[rank] + messages_[rank]) {
    fail("NCCL: rank " + std::to_string(rank) +
         " ends a communicator with operations that have not run: " + sequences(rank, rank));
  }
  ended_.insert(rank);
  for (const Row& other : counterparts({rank, -1, false})) {
    if (rows_[other].size() > rows_[{rank, -1, false}].size()) {
      fail_unequal(rank, other.rank);
    }
  }
}

void Clique::set_priority(int priority) {
  const std::lock_guard lock(mutex_);
  history_.priority = priority;
}

void Clique::count_registered(int rank) {
  const std::lock_guard lock(mutex_);
  ++history_.registered[at(rank)];
}

void Clique::add(int rank, const NcclCall& call) {
  const std::lock_guard lock(mutex_);
  calls(rank).push_back(call);
  const Row row = row_of(rank, call);
  rows_[row].push_back(call);
  const std::size_t place = rows_[row].size() - 1;
  for (const Row& other : counterparts(row)) {
    const std::vector<NcclCall>& theirs = rows_[other];
    if (theirs.size() <= place && ended_.contains(other.rank)) {
      fail_unequal(other.rank, rank);
    }
    if (theirs.size() > place && !correspond(theirs[place], call)) {
      fail("NCCL: ranks " + std::to_string(rank) + " and " + std::to_string(other.rank) +
           " of a communicator call different things:" + sequences(rank, other.rank));
    }
  }
}

void Clique::reach(int rank, const OperationHandle& operation) {
  const std::lock_guard lock(mutex_);
  reached_[at(rank)].push_back(operation);
  if (is_message(operation->call)) {
    exchange(rank, *operation);
  } else {
    run_collective();
  }
}

bool Clique::moved(const Operation& operation) const {
  const std::lock_guard lock(mutex_);
  return operation.moved;
}

NcclHistory Clique::history() const {
  const std::lock_guard lock(mutex_);
  return history_;
}

Clique::Row Clique::row_of(int rank, const NcclCall& call) {
  return is_message(call) ? Row{rank, call.detail, is_send(call)} : Row{rank, -1, false};
}

std::vector<Clique::Row> Clique::counterparts(const Row& row) const {
  if (row.peer >= 0) {
    return {{row.peer, row.rank, !row.sends}};
  }
  std::vector<Row> others;
  for (int other = 0; other < static_cast<int>(size()); ++other) {
    if (other != row.rank) {
      others.push_back({other, -1, false});
    }
  }
  return others;
}

bool Clique::correspond(const NcclCall& a, const NcclCall& b) {
  const bool same_size = a.count == b.count && a.type == b.type;
  return is_message(a) ? same_size
                       : same_size && std::strcmp(a.what, b.what) == 0 && a.detail == b.detail;
}

void Clique::fail_unequal(int ended, int other) const {
  fail("NCCL: rank " + std::to_string(ended) + " has ended a communicator without what rank " +
       std::to_string(other) + " calls:" + sequences(ended, other));
}

std::string Clique::sequences(int rank, int other) const {
  std::string text;
  for (const int one : {rank, other}) {
    text.append("\n  rank ").append(std::to_string(one)).append(":");
    for (const NcclCall& call : calls(one)) {
      text.append(" ").append(describe(call)).append(";");
    }
    if (rank == other) {
      break;
    }
  }
  return text;
}

template <class Matches>
OperationHandle Clique::take(int rank, const Matches& matches) {
  auto& operations = reached_[at(rank)];
  const auto found = std::ranges::find_if(
      operations, [&](const OperationHandle& one) { return matches(one->call); });
  if (found == operations.end()) {
    return nullptr;
  }
  OperationHandle taken = *found;
  operations.erase(found);
  taken->moved = true;
  ++(is_message(taken->call) ? messages_ : collectives_)[rank];
  return taken;
}

/// Moves a message if the peer's end has been reached; whoever comes second does it.
void Clique::exchange(int rank, const Operation& operation) {
  const bool sends = is_send(operation.call);
  const int sender = sends ? rank : operation.call.detail;
  const int receiver = sends ? operation.call.detail : rank;
  const auto is = [](const char* what, int peer) {
    return [what, peer](const NcclCall& call) {
      return std::strcmp(call.what, what) == 0 && call.detail == peer;
    };
  };
  const auto there = [&](int one, const auto& matches) {
    return std::ranges::any_of(
        reached_[at(one)], [&](const OperationHandle& handle) { return matches(handle->call); });
  };
  if (there(sender, is("send", receiver)) && there(receiver, is("receive", sender))) {
    const OperationHandle sent = take(sender, is("send", receiver));
    const OperationHandle received = take(receiver, is("receive", sender));
    std::memcpy(received->to, sent->from, sent->bytes());
  }
}

/// Runs a collective whose operations all ranks' streams have reached.
void Clique::run_collective() {
  const auto collective = [](const NcclCall& call) { return !is_message(call); };
  const bool all_there = std::ranges::all_of(reached_, [&](const auto& operations) {
    return std::ranges::any_of(operations,
                               [&](const OperationHandle& one) { return collective(one->call); });
  });
  if (!all_there) {
    return;
  }
  std::vector<OperationHandle> members;
  for (int rank = 0; rank < static_cast<int>(size()); ++rank) {
    members.push_back(take(rank, collective));
  }
  move_data(members);
}

}  // namespace mpitron::emulator
