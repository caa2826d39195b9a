// Accepts connections on one thread. An error while one is accepted (no file descriptors left, a
// client that is gone already) must not end the server, so accepting goes on.
#include "inference/server/http_server.h"

#include <thread>

#include <boost/asio.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include "inference/server/http_connection.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::inference {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Long requests are parsed with what the engine leaves of the processors: against a thread of
/// ordinary priority this one gets a tenth. Where the system refuses, it stays as it is.
void lower_priority() {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
}

/// Thread of the server, and the socket at which clients arrive.
class HttpServer::State {
 public:
  State(HttpServerSettings settings, Handler handler)
      : all_(std::move(settings), std::move(handler)), acceptor_(all_.context) {
    const std::string& host = all_.settings.host;
    try {
      const tcp::endpoint place(asio::ip::make_address(host), all_.settings.port);
      acceptor_.open(place.protocol());
      acceptor_.set_option(tcp::acceptor::reuse_address(true));
      acceptor_.bind(place);
      acceptor_.listen(1024);
    } catch (const boost::system::system_error& error) {
      throw_environment("--host {} --port {}: cannot listen there: {}. Choose another --port.",
                        host, all_.settings.port, error.code().message());
    }
    accept();
    asio::post(all_.long_requests, lower_priority);
    thread_ = std::thread([this] { run(); });
  }

  ~State() { stop(); }

  void stop() {
    all_.context.stop();
    if (thread_.joinable()) {
      thread_.join();
    }
    for (asio::thread_pool* each : {&all_.short_requests, &all_.long_requests}) {
      each->stop();
      each->join();
    }
  }

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::size_t connections() const { return all_.count; }

 private:
  void run() {
    for (;;) {
      try {
        all_.context.run();
        return;
      } catch (const std::exception& error) {
        log::warning("server: {}", error.what());
      }
    }
  }

  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) {
        return;
      }
      if (!error) {
        std::make_shared<HttpConnection>(all_, std::move(socket))->begin();
      }
      accept();
    });
  }

  HttpConnections all_;
  tcp::acceptor acceptor_;
  std::thread thread_;
};

HttpServer::HttpServer(HttpServerSettings settings, Handler handler)
    : state_(std::make_unique<State>(std::move(settings), std::move(handler))) {}
HttpServer::~HttpServer() = default;

void HttpServer::stop() {
  state_->stop();
}

std::uint16_t HttpServer::port() const {
  return state_->port();
}

std::size_t HttpServer::connections() const {
  return state_->connections();
}

}  // namespace mpitron::inference
