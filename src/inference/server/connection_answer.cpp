// Queues calls under a lock and wakes the server's thread once for all of them. Events of a stream
// are joined into one text until the server's thread takes them: where that is behind, the client
// gets fewer, larger pieces.
#include "inference/server/connection_answer.h"

#include <boost/asio/post.hpp>

#include "inference/server/http_connection.h"

namespace mpitron::inference {

void ConnectionAnswer::send(HttpReply reply) {
  const std::lock_guard lock(mutex_);
  later([reply = std::move(reply)](HttpConnection& c) { c.send(reply); });
}

void ConnectionAnswer::begin_events() {
  const std::lock_guard lock(mutex_);
  later([](HttpConnection& c) { c.begin_events(); });
}

void ConnectionAnswer::event(std::string_view data) {
  const std::lock_guard lock(mutex_);
  const bool first = events_.empty();
  events_.append("data: ").append(data).append("\n\n");
  if (first) {
    later([this](HttpConnection& c) { c.write_events(take_events()); });
  }
}

void ConnectionAnswer::end_events() {
  const std::lock_guard lock(mutex_);
  later([](HttpConnection& c) { c.end_events(); });
}

void ConnectionAnswer::on_leave(std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  later([call = std::move(call)](HttpConnection& c) { c.on_leave(call); });
}

/// Queues a call; the lock is held. Only the first one posts, since carry_out takes all that are
/// there.
void ConnectionAnswer::later(Call call) {
  const bool first = calls_.empty();
  calls_.push_back(std::move(call));
  if (first) {
    boost::asio::post(context_, [self = shared_from_this()] { self->carry_out(); });
  }
}

/// Runs everything that is queued, on the server's thread, outside of the lock.
void ConnectionAnswer::carry_out() {
  std::vector<Call> calls;
  {
    const std::lock_guard lock(mutex_);
    calls.swap(calls_);
  }
  for (const Call& call : calls) {
    call(*connection_);
  }
}

std::string ConnectionAnswer::take_events() {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

}  // namespace mpitron::inference
