#include <algorithm>
#include <bit>

#include "comm/messages/message_collective.h"

namespace mpitron::comm {
namespace {

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
  /// From the root's first children on, who sends has received itself.
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

}  // namespace mpitron::comm
