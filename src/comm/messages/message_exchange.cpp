#include "comm/groups/stream_copy.h"
#include "comm/messages/message_collective.h"

namespace mpitron::comm {
namespace {

class MessageExchange final : public MessageCollective {
 public:
  using MessageCollective::MessageCollective;

 private:
  /// All transfers at once: MPI orders them, and no member waits for another's turn.
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
