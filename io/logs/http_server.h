#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace mpitron::io {

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
};

/// Answers GET requests of monitoring systems on one thread of its own, some dozens of clients side
/// by side. A connection is closed after its answer and after some seconds at most, so that no
/// client can hold up another one, or the end of the run, or make it keep much.
class HttpServer {
 public:
  /// Called on the server's thread with the path, without what follows a '?'.
  using Handler = std::function<HttpAnswer(const std::string& path)>;

  /// Listens; `address` in numbers, port 0 takes a free one. Error(environment) where that fails.
  /// `patience`: with one client.
  HttpServer(const std::string& address, int port, Handler handler,
             std::chrono::milliseconds patience = std::chrono::seconds(10));
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }

 private:
  struct Connection;
  void serve() const;
  void accept_into(std::vector<Connection>& connections) const;
  bool advance(Connection& connection) const;
  std::string answer_to(const std::string& head) const;

  Handler handler_;
  std::chrono::milliseconds patience_;
  int listening_ = -1;
  int stop_ = -1;  // an eventfd
  int port_ = 0;
  std::thread thread_;
};

}  // namespace mpitron::io
