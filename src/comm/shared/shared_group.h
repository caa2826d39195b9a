#pragma once
#include "comm/groups/request.h"
#include "comm/shared/shared_table.h"

namespace mpitron::comm {

/// A group whose members reach each other's memory (threads, or processes with shared pages). Every
/// operation is "post, wait until all have posted, do this rank's share, wait until all are done";
/// data is read where it lies and moves once.
class SharedGroup final : public Group {
 public:
  /// Objects that the groups of one rank share.
  struct Fabric {
    std::shared_ptr<AddressSpaces> spaces;
    std::shared_ptr<ProgressEngine> engine;
  };

  /// `table` is shared by the members and outlives the group.
  SharedGroup(std::string name, std::vector<Index> ranks, Index rank, SharedTable table,
              Fabric fabric);

 private:
  Work start(const Request& request) override;

  Fabric fabric_;
  SharedMembers members_;
  SequenceNumbers numbers_;
};

}  // namespace mpitron::comm
