#pragma once
#include <chrono>
#include <cstdint>
#include <memory>

#include "inference/protocol/http_exchange.h"

namespace mpitron::inference {

/// Address and limits of a server; these protect it against too many clients, and against those
/// that send too much or send or read too slowly.
struct HttpServerSettings {
  std::string host = "127.0.0.1";
  std::uint16_t port = 5000;  // 0: one that is free
  std::size_t max_connections = 1024;
  std::size_t max_body_bytes = std::size_t{32} << 20;
  std::size_t max_bodies_bytes = std::size_t{128} << 20;  // of all that arrive; then 503
  std::size_t max_unsent_bytes = std::size_t{4} << 20;  // a stream whose client reads slower is cut
  std::size_t max_all_unsent_bytes = std::size_t{64} << 20;   // of all of them
  std::size_t body_bytes_per_second = std::size_t{64} << 20;  // of all that are not small
  std::chrono::milliseconds refusal_pause{100};  // before who sends what is no request is told so
  std::chrono::seconds patience{30};  // for a request, and for each write, to be complete
  std::chrono::seconds ping{15};      // between comments in a stream
};

/// Serves HTTP/1.1 with keep-alive and event streams on one thread for all connections; requests
/// are handled on two others, one for those with long bodies. Bodies too large get 413, those
/// beyond what all may take together 503, what is no HTTP 400; what comes too slowly is cut. What
/// bad clients cost is bounded: bodies are read at a pace that all share, long ones are parsed with
/// what others leave of the processors, and a refusal comes after a pause.
class HttpServer {
 public:
  using Handler = std::function<void(const HttpRequest&, const std::shared_ptr<HttpAnswer>&)>;

  /// Listens from here on; `handler` runs on two threads and may take its time. An exception of it
  /// is answered with 500. Error(environment) where the address cannot be used.
  HttpServer(HttpServerSettings settings, Handler handler);
  /// Stops; every HttpAnswer must be gone by now.
  ~HttpServer();
  /// Ends the server's threads: nobody is served any more, and HttpAnswers do nothing.
  void stop();

  std::uint16_t port() const;
  std::size_t connections() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace mpitron::inference
