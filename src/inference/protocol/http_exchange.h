#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mpitron::inference {

/// A client's request; the target is without its query. Headers other than Authorization are not
/// passed on.
struct HttpRequest {
  std::string method;
  std::string target;
  std::string authorization;
  std::string body;
};

/// A complete reply; `headers` are added to those that the connection writes itself.
struct HttpReply {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// The way back to a client. Any thread may call; what comes after the client has left is dropped.
class HttpAnswer {
 public:
  virtual ~HttpAnswer() = default;

  /// The whole answer, once, and nothing after it.
  virtual void send(HttpReply reply) = 0;

  /// The first of any number of pieces of an event stream, whose status is 200.
  virtual void begin_events() = 0;
  /// `data`: one line.
  virtual void event(std::string_view data) = 0;
  virtual void end_events() = 0;

  /// Called once, on any thread, when the client leaves before its answer is complete.
  virtual void on_leave(std::function<void()> call) = 0;
};

}  // namespace mpitron::inference
