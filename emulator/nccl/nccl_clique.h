#pragma once
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "emulator/nccl/nccl_operation.h"

namespace mpitron::emulator {

/// Ranks of one communicator. Their calls are known at once and compared as they are made; how far
/// their streams have come is known as these run.
class Clique {
 public:
  explicit Clique(int ranks)
      : history_{.ranks = std::vector<std::vector<NcclCall>>(static_cast<std::size_t>(ranks)),
                 .registered = std::vector<std::size_t>(static_cast<std::size_t>(ranks))},
        reached_(static_cast<std::size_t>(ranks)) {}

  std::size_t size() const { return reached_.size(); }
  /// Returns when all ranks have come, as ncclCommInitRank does.
  void connect(const ncclConfig_t& config);
  /// Takes a rank out: everything that it has called must have run, and be what the others have
  /// called.
  void disconnect(int rank);
  void set_priority(int priority);
  /// Notes a call of a rank; it must be what the others make in its place.
  void add(int rank, const NcclCall& call);
  /// Notes that a call of this rank had its data in registered memory.
  void count_registered(int rank);
  /// Notes that the rank's stream has come to the operation, and moves what can be moved.
  void reach(int rank, const OperationHandle& operation);
  bool moved(const Operation& operation) const;
  NcclHistory history() const;

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  std::vector<NcclCall>& calls(int rank) { return history_.ranks[at(rank)]; }
  const std::vector<NcclCall>& calls(int rank) const { return history_.ranks[at(rank)]; }

  /// Names calls that correspond one by one to those of another row: the collectives of a rank, or
  /// its messages with a peer in one direction.
  struct Row {
    int rank, peer;
    bool sends;
    auto operator<=>(const Row&) const = default;
  };
  static Row row_of(int rank, const NcclCall& call);
  /// Returns the rows whose calls must correspond to those of this row.
  std::vector<Row> counterparts(const Row& row) const;
  static bool correspond(const NcclCall& a, const NcclCall& b);
  [[noreturn]] void fail_unequal(int ended, int other) const;
  std::string sequences(int rank, int other) const;
  /// Takes out the first matching operation that the rank's stream has come to; null where it is
  /// none.
  template <class Matches>
  OperationHandle take(int rank, const Matches& matches);
  void exchange(int rank, const Operation& operation);
  void run_collective();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t connected_ = 0;
  NcclHistory history_;
  std::map<Row, std::vector<NcclCall>> rows_;  // the same, as they have to correspond
  std::set<int> ended_;
  std::vector<std::vector<OperationHandle>> reached_;  // of each rank, and not yet moved
  std::map<int, std::size_t> collectives_, messages_;  // moved, of each rank
};

}  // namespace mpitron::emulator
