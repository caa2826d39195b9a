#pragma once
#include <memory>
#include <mutex>

#include "inference/protocol/http_exchange.h"

namespace boost::asio {
class io_context;
}

namespace mpitron::inference {

class HttpConnection;

/// Carries calls of handlers from any thread to the server's, in the order in which they were made,
/// several events at once. The queue is this class's own: asio may run what its own thread posts
/// after what other threads post later.
class ConnectionAnswer : public HttpAnswer, public std::enable_shared_from_this<ConnectionAnswer> {
 public:
  ConnectionAnswer(boost::asio::io_context& context, std::shared_ptr<HttpConnection> connection)
      : context_(context), connection_(std::move(connection)) {}

  void send(HttpReply reply) override;
  void begin_events() override;
  void event(std::string_view data) override;
  void end_events() override;
  void on_leave(std::function<void()> call) override;

 private:
  using Call = std::function<void(HttpConnection&)>;

  void later(Call call);
  void carry_out();
  std::string take_events();

  boost::asio::io_context& context_;
  std::shared_ptr<HttpConnection> connection_;
  std::mutex mutex_;
  std::vector<Call> calls_;
  std::string events_;
};

}  // namespace mpitron::inference
