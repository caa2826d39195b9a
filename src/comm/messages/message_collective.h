#pragma once
#include "comm/messages/message_transfers.h"

namespace mpitron::comm {

/// A collective of a message group. It begins when the one that had the same tags has ended here.
class MessageCollective : public Operation {
 public:
  MessageCollective(MessageMembers& members, Request request, std::uint64_t sequence)
      : members_(members), request_(std::move(request)), sequence_(sequence) {}

  bool step() final;
  std::vector<Index> absent() const final;

 protected:
  virtual void begin() = 0;
  /// True once nothing is left to do.
  virtual bool advance() = 0;
  virtual void add_absent(std::vector<Index>& ranks) const = 0;

  Index rank() const { return members_.group().rank(); }
  Index size() const { return members_.group().size(); }
  int tag(int part) const { return members_.tag(sequence_, part); }
  const std::byte* input() const { return static_cast<const std::byte*>(request_.input.data); }
  std::byte* output() const { return static_cast<std::byte*>(request_.output.data); }

  MessageMembers& members_;
  const Request request_;

 private:
  const std::uint64_t sequence_;
  bool begun_ = false;
};

// The kinds; reductions, the largest, have a file of their own (message_reduction.cpp).
using MakeMessageCollective = std::shared_ptr<Operation>(MessageMembers& members,
                                                         const Request& request,
                                                         std::uint64_t sequence);
/// all_gather and all_to_all: every message begins at once.
MakeMessageCollective make_message_exchange;
/// Broadcast along a binomial tree: who has the data sends it to a rank twice as far away each
/// time.
MakeMessageCollective make_message_broadcast;
/// Barrier by dissemination: in round k each member tells the one 2^k further on that it and 2^k -
/// 1 others have arrived.
MakeMessageCollective make_message_barrier;
/// all_reduce and reduce_scatter: an exchange of pieces and a local sum in rank order, several
/// blocks at a time.
MakeMessageCollective make_message_reduction;

}  // namespace mpitron::comm
