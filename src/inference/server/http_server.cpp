#include "inference/server/http_server.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>
#include <vector>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::inference {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::uint32_t kLargestHeader = 32 << 10;

std::string head_of(int status, std::string_view type, bool keep_alive) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nServer: mpitron\r\nContent-Type: {}\r\nConnection: {}\r\n", status,
      http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status))).to_string(), type,
      keep_alive ? "keep-alive" : "close");
}

std::string whole_reply(const HttpReply& reply, bool keep_alive, bool with_body) {
  std::string text = head_of(reply.status, reply.type, keep_alive);
  for (const auto& [name, value] : reply.headers) {
    text += fmt::format("{}: {}\r\n", name, value);
  }
  text += fmt::format("Content-Length: {}\r\n\r\n", reply.body.size());
  return with_body ? text + reply.body : text;
}

std::string refusal(std::string_view text) {
  return fmt::format(R"({{"error": {{"message": "{}", "type": "invalid_request_error", )"
                     R"("param": null, "code": null}}}})",
                     text);
}

}  // namespace

class HttpServer::State {
 public:
  State(HttpServerSettings settings, Handler handler)
      : settings_(std::move(settings)), handler_(std::move(handler)), acceptor_(context_) {
    try {
      const tcp::endpoint place(asio::ip::make_address(settings_.host), settings_.port);
      acceptor_.open(place.protocol());
      acceptor_.set_option(tcp::acceptor::reuse_address(true));
      acceptor_.bind(place);
      acceptor_.listen(1024);
    } catch (const boost::system::system_error& error) {
      throw_environment("--host {} --port {}: cannot listen there: {}. Choose another --port.",
                        settings_.host, settings_.port, error.code().message());
    }
    accept();
    thread_ = std::thread([this] { run(); });
  }

  ~State() { stop(); }

  void stop() {
    context_.stop();
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::size_t connections() const { return count_; }
  const HttpServerSettings& settings() const { return settings_; }
  const Handler& handler() const { return handler_; }
  asio::io_context& context() { return context_; }
  void forget(const std::shared_ptr<Connection>& connection) {
    open_.erase(connection);
    count_ = open_.size();
  }

 private:
  void run() {
    for (;;) {
      try {
        context_.run();
        return;
      } catch (const std::exception& error) {
        log::warning("server: {}", error.what());
      }
    }
  }
  void accept();

  HttpServerSettings settings_;
  Handler handler_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  std::unordered_set<std::shared_ptr<Connection>> open_;
  std::atomic<std::size_t> count_ = 0;
  std::thread thread_;
};

/// A client's connection: reads a request, waits until it is answered, reads the next one. Its
/// methods run on the server's thread.
class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(State& state, tcp::socket socket)
      : state_(state), stream_(std::move(socket)), ping_(state.context()) {
    error_code ignored;
    stream_.socket().set_option(tcp::no_delay(true), ignored);
  }

  void read();
  void refuse(int status, std::string_view text) {
    keep_alive_ = false;
    write(whole_reply({status, refusal(text)}, false, true), true);
  }

  void send(const HttpReply& reply) { write(whole_reply(reply, keep_alive_, with_body_), true); }
  void begin_events() {
    std::string head = head_of(200, "text/event-stream; charset=utf-8", keep_alive_);
    head += chunked_ ? "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
                     : "Cache-Control: no-cache\r\n\r\n";
    write(std::move(head), false);
    ping_later();
  }
  void write_events(const std::string& text) {
    write(chunked_ ? fmt::format("{:x}\r\n{}\r\n", text.size(), text) : text, false);
  }
  void end_events() {
    ping_.cancel();
    write(chunked_ ? "0\r\n\r\n" : "", true);
  }

  void on_leave(std::function<void()> call) {
    if (closed_) {
      call();
    } else if (answering_) {
      leave_ = std::move(call);
    }
  }

 private:
  void handle();
  void watch();
  void write(std::string text, bool last);
  void write_next();
  void ping_later();
  void close();
  bool expects_more(error_code error);

  State& state_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::deque<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;
  bool writing_ = false, last_ = false, closed_ = false, answering_ = false;
  bool keep_alive_ = true, chunked_ = true, with_body_ = true;
  std::function<void()> leave_;
  asio::steady_timer ping_;
};

/// What handlers hold: calls from any thread, carried out on the server's in the order in which
/// they were made, several events at once. The queue is this class's own: asio runs what its own
/// thread posts later than what others post.
class HttpServer::Answer : public HttpAnswer, public std::enable_shared_from_this<Answer> {
 public:
  Answer(State& state, std::shared_ptr<Connection> connection)
      : context_(state.context()), connection_(std::move(connection)) {}

  void send(HttpReply reply) override {
    const std::lock_guard lock(mutex_);
    later([reply = std::move(reply)](Connection& c) { c.send(reply); });
  }
  void begin_events() override {
    const std::lock_guard lock(mutex_);
    later([](Connection& c) { c.begin_events(); });
  }
  void event(std::string_view data) override {
    const std::lock_guard lock(mutex_);
    const bool first = events_.empty();
    events_.append("data: ").append(data).append("\n\n");
    if (first) {
      later([this](Connection& c) { c.write_events(take_events()); });
    }
  }
  void end_events() override {
    const std::lock_guard lock(mutex_);
    later([](Connection& c) { c.end_events(); });
  }
  void on_leave(std::function<void()> call) override {
    const std::lock_guard lock(mutex_);
    later([call = std::move(call)](Connection& c) { c.on_leave(call); });
  }

 private:
  using Call = std::function<void(Connection&)>;

  /// Called with the lock held.
  void later(Call call) {
    const bool first = calls_.empty();
    calls_.push_back(std::move(call));
    if (first) {
      asio::post(context_, [self = shared_from_this()] { self->carry_out(); });
    }
  }
  void carry_out() {
    std::vector<Call> calls;
    {
      const std::lock_guard lock(mutex_);
      calls.swap(calls_);
    }
    for (const Call& call : calls) {
      call(*connection_);
    }
  }
  std::string take_events() {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }

  asio::io_context& context_;
  std::shared_ptr<Connection> connection_;
  std::mutex mutex_;
  std::vector<Call> calls_;
  std::string events_;
};

void HttpServer::State::accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted) {
      return;
    }
    if (!error) {
      auto connection = std::make_shared<Connection>(*this, std::move(socket));
      const bool full = open_.size() >= settings_.max_connections;
      open_.insert(connection);
      count_ = open_.size();
      if (full) {
        connection->refuse(503, "too many connections");
      } else {
        connection->read();
      }
    }
    accept();
  });
}

void HttpServer::Connection::read() {
  parser_.emplace();
  parser_->header_limit(kLargestHeader);
  parser_->body_limit(state_.settings().max_body_bytes);
  stream_.expires_after(state_.settings().patience);
  const auto self = shared_from_this();
  http::async_read_header(stream_, buffer_, *parser_, [self](error_code error, std::size_t) {
    if (!self->expects_more(error)) {
      return;
    }
    if (self->parser_->get()[http::field::expect] == "100-continue") {
      self->unsent_.emplace_back("HTTP/1.1 100 Continue\r\n\r\n");
      self->unsent_bytes_ += self->unsent_.back().size();
      self->write_next();
    }
    http::async_read(self->stream_, self->buffer_, *self->parser_,
                     [self](error_code body_error, std::size_t) {
                       if (self->expects_more(body_error)) {
                         self->handle();
                       }
                     });
  });
}

bool HttpServer::Connection::expects_more(error_code error) {
  if (!error) {
    return true;
  }
  const bool foreign = error.category() == http::make_error_code(http::error::bad_value).category();
  if (closed_ || !foreign || error == http::error::end_of_stream ||
      error == http::error::partial_message) {
    close();
  } else if (error == http::error::body_limit) {
    refuse(413, "the body is larger than --max-body-mb allows");
  } else if (error == http::error::header_limit) {
    refuse(431, "the header is larger than 32 kB");
  } else {
    refuse(400, "this is no HTTP request");
  }
  return false;
}

void HttpServer::Connection::handle() {
  stream_.expires_never();
  const auto message = parser_->release();
  keep_alive_ = message.keep_alive();
  chunked_ = message.version() >= 11;
  keep_alive_ = keep_alive_ && chunked_;
  with_body_ = message.method() != http::verb::head;
  answering_ = true;
  const std::string_view target(message.target().data(), message.target().size());
  HttpRequest request{.method = std::string(message.method_string()),
                      .target = std::string(target.substr(0, target.find('?'))),
                      .authorization = std::string(message[http::field::authorization]),
                      .body = message.body()};
  const auto answer = std::make_shared<Answer>(state_, shared_from_this());
  watch();
  try {
    state_.handler()(request, answer);
  } catch (const std::exception& error) {
    log::warning("server: {} {}: {}", request.method, request.target, error.what());
    answer->send({500, R"({"error": {"message": "the server failed", "type": "server_error"}})"});
  }
}

/// Looks for a client that closes its end while its answer is being made.
void HttpServer::Connection::watch() {
  stream_.socket().async_wait(
      tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
        if (error || !self->answering_ || self->closed_) {
          return;
        }
        error_code ignored;
        if (self->stream_.socket().available(ignored) == 0) {
          self->close();
        }  // otherwise its next request is there already, and is read when this one is answered
      });
}

void HttpServer::Connection::write(std::string text, bool last) {
  if (closed_) {
    return;
  }
  unsent_bytes_ += text.size();
  last_ = last_ || last;
  if (unsent_bytes_ > state_.settings().max_unsent_bytes && !last) {
    close();
    return;
  }
  unsent_.push_back(std::move(text));
  write_next();
}

void HttpServer::Connection::write_next() {
  if (writing_ || unsent_.empty()) {
    return;
  }
  writing_ = true;
  stream_.expires_after(state_.settings().patience);
  asio::async_write(stream_, asio::buffer(unsent_.front()),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      self->writing_ = false;
                      if (error || self->closed_) {
                        self->close();
                        return;
                      }
                      self->unsent_bytes_ -= self->unsent_.front().size();
                      self->unsent_.pop_front();
                      if (!self->unsent_.empty()) {
                        self->write_next();
                      } else if (self->last_) {
                        self->last_ = false;
                        self->answering_ = false;
                        self->leave_ = nullptr;
                        self->keep_alive_ ? self->read() : self->close();
                      } else if (self->answering_) {
                        self->stream_.expires_never();
                      }
                    });
}

void HttpServer::Connection::ping_later() {
  ping_.expires_after(state_.settings().ping);
  ping_.async_wait([self = shared_from_this()](error_code error) {
    if (!error && self->answering_ && !self->closed_ && !self->last_) {
      self->write_events(": ping\n\n");
      self->ping_later();
    }
  });
}

void HttpServer::Connection::close() {
  if (std::exchange(closed_, true)) {
    return;
  }
  ping_.cancel();
  error_code ignored;
  stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  stream_.close();
  if (leave_) {
    std::exchange(leave_, nullptr)();
  }
  state_.forget(shared_from_this());
}

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
