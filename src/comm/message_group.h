#pragma once
#include <array>

#include "comm/group.h"
#include "comm/messages.h"

namespace mpitron::comm {

/// A group whose members send each other messages (ranks of several nodes). Reductions are an
/// exchange of pieces and a local sum in rank order, several blocks at a time.
class MessageGroup final : public Group {
 public:
  static constexpr int kTagBits = 9;  // of a tag, told apart within a group

  /// What the groups of one rank share.
  struct Fabric {
    std::shared_ptr<Messages> messages;
    std::shared_ptr<ProgressEngine> engine;
  };

  /// `number`: what the members, and no two groups of two of them, have in common; tags are
  /// number << kTagBits and the following.
  MessageGroup(std::string name, std::vector<Index> ranks, Index rank, Fabric fabric, int number);

 private:
  class Transfers;
  class Collective;
  class Exchange;
  class Broadcast;
  class Barrier;
  class Reduce;
  class ReduceBlock;
  class Message;

  static constexpr int kUnderWay = 32;  // collectives; each has kTagsEach tags
  static constexpr int kTagsEach = 16;

  Work start(const Request& request) override;
  int tag(std::uint64_t sequence, int part) const {
    return (number_ << kTagBits) + static_cast<int>(sequence % kUnderWay) * kTagsEach + part;
  }
  Index world_rank(Index member) const { return ranks()[static_cast<std::size_t>(member)]; }

  Fabric fabric_;
  int number_;
  std::uint64_t collectives_ = 0;             // started here
  std::array<bool, kUnderWay> tags_taken_{};  // by collectives that have begun and not ended
};

}  // namespace mpitron::comm
