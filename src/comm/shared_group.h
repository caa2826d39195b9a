#pragma once
#include "comm/group.h"
#include "comm/shared_table.h"

namespace mpitron::comm {

/// How members reach each other's memory.
class AddressSpaces {
 public:
  virtual ~AddressSpaces() = default;
  /// A number by which the others reach this rank's memory.
  virtual std::uintptr_t publish(const void* memory) = 0;
  /// What world rank `rank` published.
  virtual void* reach(Index rank, std::uintptr_t address) = 0;
  /// Throws where the job is being ended, so that nobody waits for a member that is gone.
  virtual void check_alive() = 0;
};

/// A group whose members reach each other's memory (threads, or processes with shared pages). Every
/// operation is "post, wait until all have posted, do this rank's share, wait until all are done";
/// data is read where it lies and moves once.
///
/// Shares: of a reduction, the piece of this rank, stored to every member; of all others, what this
/// rank receives.
class SharedGroup final : public Group {
 public:
  /// What the groups of one rank share.
  struct Fabric {
    std::shared_ptr<AddressSpaces> spaces;
    std::shared_ptr<ProgressEngine> engine;
  };

  /// `table` is shared by the members and outlives the group.
  SharedGroup(std::string name, std::vector<Index> ranks, Index rank, SharedTable table,
              Fabric fabric);

 private:
  class Collective;
  class Send;
  class Receive;

  Work start(const Request& request) override;
  Work keep(std::shared_ptr<Operation> operation);
  AddressSpaces& spaces() const { return *fabric_.spaces; }

  SharedTable table_;
  Fabric fabric_;
  std::uint64_t collectives_ = 0;                // started here
  std::vector<std::uint64_t> sends_, receives_;  // started here, for each member
};

}  // namespace mpitron::comm
