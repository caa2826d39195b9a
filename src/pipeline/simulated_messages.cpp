#include "pipeline/simulated_messages.h"

#include <algorithm>

#include <fmt/format.h>

// Messages in simulated time. With buffered transport a send is over at once; with rendezvous both
// ends must have posted. Numbers count the messages of each channel on both sides: they must come
// in one order.

namespace mpitron::pipeline {
namespace {

bool is_at_sender(const Action& action) {
  return action.kind == ActionKind::send || action.kind == ActionKind::wait_send;
}

}  // namespace

SimulatedMessages::SimulatedMessages(const ScheduleOptions& options, Transport transport,
                                     double latency)
    : ring_{options.stages, options.chunks},
      microbatches_(options.microbatches),
      transport_(transport),
      latency_(latency),
      messages_(static_cast<std::size_t>(2 * ring_.count() * microbatches_)),
      last_numbers_(static_cast<std::size_t>(4 * options.stages * options.stages)) {}

std::size_t SimulatedMessages::index(Index stage, Index chunk, Index microbatch,
                                     Payload payload) const {
  const Index cell = ring_.number(stage, chunk) * microbatches_ + microbatch;
  return static_cast<std::size_t>(2 * cell + (payload == Payload::gradient));
}

SimulatedMessages::Message& SimulatedMessages::message(Index stage, const Action& action) {
  return messages_[is_at_sender(action)
                       ? index(action.peer_stage, action.peer_chunk, action.microbatch,
                               action.payload)
                       : index(stage, action.chunk, action.microbatch, action.payload)];
}

Index& SimulatedMessages::last_number(Index stage, const Action& action) {
  const bool sends = is_at_sender(action);
  const Index from = sends ? stage : action.peer_stage, to = sends ? action.peer_stage : stage;
  const Index channel = (from * ring_.stages + to) * 2 + (action.payload == Payload::gradient);
  return last_numbers_[static_cast<std::size_t>(2 * channel + sends)];
}

bool SimulatedMessages::post(Index stage, const Action& action, double time) {
  Message& message = this->message(stage, action);
  End& end = is_at_sender(action) ? message.sender : message.receiver;
  if (end.posted) {
    return false;
  }
  end.posted = time;
  end.number = ++last_number(stage, action);
  return true;
}

SimulatedMessages::Wait SimulatedMessages::wait(Index stage, const Action& action) {
  Message& message = this->message(stage, action);
  const bool at_sender = is_at_sender(action);
  End& end = at_sender ? message.sender : message.receiver;
  if (!end.posted || end.waited) {
    return {.problem = "there is nothing to wait for"};
  }
  const std::optional<double> time = over(message, at_sender);
  if (time && message.sender.posted && message.receiver.posted && !message.in_order()) {
    return {.problem =
                fmt::format("it is message {} of its channel at the sender and {} at the receiver",
                            message.sender.number, message.receiver.number)};
  }
  end.waited = time.has_value();
  return {.over = time};
}

/// Returns when an end that has been posted is over.
std::optional<double> SimulatedMessages::over(const Message& message, bool at_sender) const {
  const std::optional<double>& sent = message.sender.posted;
  const std::optional<double>& received = message.receiver.posted;
  if (transport_ == Transport::buffered && at_sender) {
    return sent;
  }
  if (!sent || !received) {
    return {};
  }
  return transport_ == Transport::buffered ? std::max(*received, *sent + latency_)
                                           : std::max(*sent, *received) + latency_;
}

bool SimulatedMessages::received(Index stage, Index chunk, Index microbatch,
                                 Payload payload) const {
  return messages_[index(stage, chunk, microbatch, payload)].receiver.waited;
}

bool SimulatedMessages::complete(Index stage, Index chunk, Index microbatch,
                                 Payload payload) const {
  const Message& message = messages_[index(stage, chunk, microbatch, payload)];
  return message.sender.waited && message.receiver.waited && message.in_order();
}

}  // namespace mpitron::pipeline
