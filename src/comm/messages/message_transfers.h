#pragma once
#include <array>
#include <memory>
#include <utility>

#include "comm/groups/group.h"
#include "utils/numbers/shape.h"

namespace mpitron::comm {

/// Carries bytes from process to process; between two of them, messages of one tag match in the
/// order in which they were sent and in which their receipt was asked for.
class Messages {
 public:
  /// A transfer under way; its memory stays the transfer's until it is done.
  class Transfer {
   public:
    virtual ~Transfer() = default;
    virtual bool done() = 0;
  };

  virtual ~Messages() = default;
  virtual std::unique_ptr<Transfer> send(Index to, int tag, const void* data, Index bytes) = 0;
  virtual std::unique_ptr<Transfer> receive(Index from, int tag, void* data, Index bytes) = 0;
  /// Tags are 0 .. this.
  virtual int largest_tag() const = 0;
};

/// State that the operations of a message group work with; the group keeps it alive.
class MessageMembers {
 public:
  static constexpr int kTagBits = 9;    // of a tag, told apart within a group
  static constexpr int kTagsEach = 16;  // of a collective
  static constexpr int kUnderWay = (1 << kTagBits) / kTagsEach;  // collectives

  /// `number`: see MessageGroup.
  MessageMembers(const Group& group, Messages& messages, int number)
      : group_(group), messages_(messages), number_(number) {}

  const Group& group() const { return group_; }
  Messages& messages() const { return messages_; }
  /// Returns the tag of a part of the collective with this sequence number.
  int tag(std::uint64_t sequence, int part) const {
    return (number_ << kTagBits) + static_cast<int>(sequence % kUnderWay) * kTagsEach + part;
  }
  /// Returns the tag of all sends and receives, which no part of a collective has.
  int message_tag() const { return tag(0, kTagsEach - 1); }
  /// Tells whether a collective that has begun and not ended has the same tags.
  bool& tags_taken(std::uint64_t sequence) { return tags_taken_[sequence % kUnderWay]; }

 private:
  const Group& group_;
  Messages& messages_;
  int number_;
  std::array<bool, kUnderWay> tags_taken_{};
};

/// Messages of one operation under one tag.
class MessageTransfers {
 public:
  MessageTransfers(const MessageMembers& members, int tag) : members_(members), tag_(tag) {}

  void send(Index member, const void* data, Index bytes);
  void receive(Index member, void* data, Index bytes);
  bool done();
  /// Adds the world ranks of what is under way.
  void add_absent(std::vector<Index>& ranks) const;

 private:
  const MessageMembers& members_;
  int tag_;
  std::vector<std::pair<Index, std::unique_ptr<Messages::Transfer>>> transfers_;  // world ranks
};

}  // namespace mpitron::comm
