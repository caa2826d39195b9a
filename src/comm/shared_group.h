#pragma once
#include "comm/address_spaces.h"
#include "comm/group.h"
#include "comm/shared_table.h"

namespace mpitron::comm {

/// A group whose members reach each other's memory (threads, or processes with shared pages). Every
/// operation is "post, wait until all have posted, do this rank's share, wait until all are done";
/// data is read where it lies and moves once.
///
/// Shares: of a reduction, the piece of this rank, stored to every member; of all others, what this
/// rank receives. A share is done in steps of a few MiB, so that `progress` between two kernels is
/// short and the next operation need not wait for all of it.
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
  class Exposed;
  class Collective;
  class Message;
  class Send;
  class Receive;

  Work start(const Request& request) override;
  AddressSpaces& spaces() const { return *fabric_.spaces; }

  SharedTable table_;
  Fabric fabric_;
  std::uint64_t collectives_ = 0;                // started here
  std::vector<std::uint64_t> sends_, receives_;  // started here, for each member
};

}  // namespace mpitron::comm
