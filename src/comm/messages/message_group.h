#pragma once
#include "comm/groups/request.h"
#include "comm/messages/message_transfers.h"

namespace mpitron::comm {

/// A group whose members send each other messages (ranks of several nodes). Reductions are an
/// exchange of pieces and a local sum in rank order, several blocks at a time.
class MessageGroup final : public Group {
 public:
  static constexpr int kTagBits = MessageMembers::kTagBits;

  /// Objects that the groups of one rank share.
  struct Fabric {
    std::shared_ptr<Messages> messages;
    std::shared_ptr<ProgressEngine> engine;
  };

  /// Makes a group. `number` is what the members, and no two groups of two of them, have in common;
  /// tags are number << kTagBits and the following.
  MessageGroup(std::string name, std::vector<Index> ranks, Index rank, Fabric fabric, int number);

 private:
  Work start(const Request& request) override;

  Fabric fabric_;
  MessageMembers members_;
  SequenceNumbers numbers_;
};

}  // namespace mpitron::comm
