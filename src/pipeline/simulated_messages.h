#pragma once
#include <optional>
#include <string>
#include <vector>

#include "pipeline/simulator.h"
#include "pipeline/virtual_stages.h"

namespace mpitron::pipeline {

/// The messages of a schedule while it is simulated: when each of their ends posts and is over, and
/// whether both ends of a channel (sender, receiver, payload) agree on the order.
class SimulatedMessages {
 public:
  SimulatedMessages(const ScheduleOptions& options, Transport transport, double latency);

  /// `send` and `receive` at this time; false where that end was posted before.
  bool post(Index stage, const Action& action, double time);

  struct Wait {
    std::optional<double> over = {};  // when the message is; none while the other end has not come
    std::string problem = {};         // empty, or what is wrong
  };
  /// `wait_send` and `wait_receive`.
  Wait wait(Index stage, const Action& action);

  /// Whether the input (activation) or the output's gradient of this computation is there.
  bool received(Index stage, Index chunk, Index microbatch, Payload payload) const;
  /// Whether both ends were posted, waited for and have the same number in their channel.
  bool complete(Index stage, Index chunk, Index microbatch, Payload payload) const;

 private:
  struct End {
    std::optional<double> posted;
    Index number = 0;  // on its channel
    bool waited = false;
  };
  /// Kept at its receiver's (stage, chunk, microbatch).
  struct Message {
    End sender, receiver;
    bool in_order() const { return sender.number == receiver.number; }
  };

  std::size_t index(Index stage, Index chunk, Index microbatch, Payload payload) const;
  /// A send and its wait name a message by the receiver's computation.
  Message& message(Index stage, const Action& action);
  Index& last_number(Index stage, const Action& action);
  std::optional<double> over(const Message& message, bool at_sender) const;

  VirtualStages ring_;
  Index microbatches_;
  Transport transport_;
  double latency_;
  std::vector<Message> messages_;
  std::vector<Index> last_numbers_;  // by channel and end
};

}  // namespace mpitron::pipeline
