#include <algorithm>
#include <bit>

#include "comm/messages/message_collective.h"

namespace mpitron::comm {
namespace {

class MessageBarrier final : public MessageCollective {
 public:
  using MessageCollective::MessageCollective;

 private:
  void begin() override {}
  /// Dissemination: in round i a rank hears from the one 2^i before it; log2(n) rounds.
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

}  // namespace mpitron::comm
