#include "comm/messages/message_collective.h"

#include <algorithm>
#include <bit>

#include "comm/groups/stream_copy.h"

// Collectives from messages, for ranks on different nodes: a barrier by dissemination, a broadcast
// by a binomial tree, gathers and exchanges by a message between every two members. Each is a state
// that `step` moves on as its messages arrive; nothing blocks.

namespace mpitron::comm {

/// Steps on. A sequence number has its tags back only when the operation kUnderWay before it has
/// ended here, so messages of the two cannot be mixed up.
bool MessageCollective::step() {
  bool& taken = members_.tags_taken(sequence_);
  if (!begun_) {
    if (taken) {
      return false;
    }
    taken = begun_ = true;
    begin();
  }
  if (!advance()) {
    return false;
  }
  taken = false;
  return true;
}

/// Lists world ranks, each once, for the watchdog's sentence.
std::vector<Index> MessageCollective::absent() const {
  std::vector<Index> ranks;
  add_absent(ranks);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

namespace {

/// Waits for all in log2(n) rounds.
class MessageBarrier final : public MessageCollective {
 public:
  using MessageCollective::MessageCollective;

 private:
  void begin() override {}
  /// Moves by dissemination: in round i a rank hears from the one 2^i before it; log2(n) rounds.
  bool advance() override {
    while (round_.done()) {
      if (reach_ >= size()) {
        return true;
      }
      round_.send((rank() + reach_) % size(), &sent_, 1);
      round_.receive((rank() - reach_ + size()) % size(), &received_, 1);
      reach_ *= 2;
    }
    return false;
  }
  void add_absent(std::vector<Index>& ranks) const override { round_.add_absent(ranks); }
  int distance() const override {
    return std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(reach_))) - 2);
  }

  Index reach_ = 1;  // of the next round
  char sent_ = 0;
  char received_ = 0;
  MessageTransfers round_{members_, tag(0)};
};

}  // namespace

std::shared_ptr<Operation> make_message_barrier(MessageMembers& members, const Request& request,
                                                std::uint64_t sequence) {
  return std::make_shared<MessageBarrier>(members, request, sequence);
}

namespace {

/// Carries the root's bytes down a binomial tree.
class MessageBroadcast final : public MessageCollective {
 public:
  using MessageCollective::MessageCollective;

 private:
  /// Places count from the root on; a rank receives from the one without its highest bit.
  void begin() override {
    const Index place = (rank() - request_.peer + size()) % size();
    while (reach_ <= place) {
      reach_ *= 2;
    }
    if (place > 0) {  // half of `reach_` is the highest bit of `place`
      from_above_.receive(member_at(place - reach_ / 2), output(), request_.output.bytes());
    }
  }
  /// Passes on to those that differ from it by a higher bit: a binomial tree.
  bool advance() override {
    if (!from_above_.done()) {
      return false;
    }
    const Index place = (rank() - request_.peer + size()) % size();
    for (; place + reach_ < size(); reach_ *= 2) {
      to_below_.send(member_at(place + reach_), output(), request_.output.bytes());
    }
    return to_below_.done();
  }
  void add_absent(std::vector<Index>& ranks) const override {
    from_above_.add_absent(ranks);
    to_below_.add_absent(ranks);
  }
  /// Counts the steps from the root's first children on: who sends has received itself.
  int distance() const override {
    const Index place = (rank() - request_.peer + size()) % size();
    return std::max(0, std::popcount(static_cast<std::uint64_t>(place)) - 1);
  }
  Index member_at(Index place) const { return (place + request_.peer) % size(); }

  Index reach_ = 1;
  MessageTransfers from_above_{members_, tag(0)};
  MessageTransfers to_below_{members_, tag(0)};
};

}  // namespace

std::shared_ptr<Operation> make_message_broadcast(MessageMembers& members, const Request& request,
                                                  std::uint64_t sequence) {
  return std::make_shared<MessageBroadcast>(members, request, sequence);
}

namespace {

/// Gathers, or exchanges with counts, by direct messages between every two members.
class MessageExchange final : public MessageCollective {
 public:
  using MessageCollective::MessageCollective;

 private:
  /// Begins all transfers at once, so that no member waits for another's turn.
  void begin() override {
    const bool gathers = request_.kind == CollectiveKind::all_gather;
    const auto element = static_cast<Index>(size_of(request_.output.dtype));
    const std::byte* from = input();
    std::byte* to = output();
    for (Index member = 0; member < size(); ++member) {
      const auto j = static_cast<std::size_t>(member);
      const Index sent = gathers ? request_.input.bytes() : request_.input_counts[j] * element;
      const Index received = gathers ? sent : request_.output_counts[j] * element;
      if (member == rank()) {
        copy_bytes(to, from, received);
      } else {
        transfers_.send(member, from, sent);
        transfers_.receive(member, to, received);
      }
      from += gathers ? 0 : sent;
      to += received;
    }
  }
  bool advance() override { return transfers_.done(); }
  void add_absent(std::vector<Index>& ranks) const override { transfers_.add_absent(ranks); }

  MessageTransfers transfers_{members_, tag(0)};
};

}  // namespace

std::shared_ptr<Operation> make_message_exchange(MessageMembers& members, const Request& request,
                                                 std::uint64_t sequence) {
  return std::make_shared<MessageExchange>(members, request, sequence);
}

}  // namespace mpitron::comm
