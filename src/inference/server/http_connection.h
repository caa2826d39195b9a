#pragma once
#include <atomic>
#include <deque>
#include <unordered_set>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include "inference/server/request_reader.h"

namespace mpitron::inference {

class HttpConnection;

/// State that the connections of a server share; one thread runs the context and the connections.
/// The handler runs on two others, of which one takes long bodies: these hold up neither streams
/// nor short requests.
struct HttpConnections {
  HttpConnections(HttpServerSettings chosen, HttpServer::Handler answers)
      : settings(std::move(chosen)),
        handler(std::move(answers)),
        bodies(settings.max_bodies_bytes),
        unsent(settings.max_all_unsent_bytes),
        pace(settings.body_bytes_per_second) {}

  HttpServerSettings settings;
  HttpServer::Handler handler;
  ByteBudget bodies, unsent;
  BytePace pace;
  boost::asio::io_context context{1};
  boost::asio::thread_pool short_requests{1}, long_requests{1};
  std::unordered_set<std::shared_ptr<HttpConnection>> open;
  std::atomic<std::size_t> count = 0;
};

/// Serves a client's connection: reads a request, waits until it is answered, reads the next one.
/// Its methods run on the server's thread.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(HttpConnections& all, boost::asio::ip::tcp::socket socket);

  /// Begins to serve, as one of the open connections; a server that is full refuses at once.
  void begin();

  void send(const HttpReply& reply);
  void begin_events();
  void write_events(const std::string& text);
  void end_events();
  /// Calls when the client leaves before its answer is complete; at once where it has left already.
  void on_leave(std::function<void()> call);

 private:
  void read();
  void refuse(const HttpReply& reply);
  void refuse_later(HttpReply reply);
  void handle(HttpMessage message, ByteCharge held);
  void watch();
  void write(std::string text, bool last);
  void write_next();
  void written();
  void ping_later();
  void close();

  HttpConnections& all_;
  boost::beast::tcp_stream stream_;
  RequestReader reader_;
  std::deque<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;
  ByteCharge unsent_held_;
  bool writing_ = false, last_ = false, closed_ = false, answering_ = false;
  bool keep_alive_ = true, chunked_ = true, with_body_ = true;
  std::function<void()> leave_;
  boost::asio::steady_timer ping_;
};

}  // namespace mpitron::inference
