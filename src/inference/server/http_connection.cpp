// Serves one client with Boost's asio and Beast. A connection has one request under way; pipelined
// ones wait in the reader's buffer and in the socket. A client that does not read is cut off, when
// too many bytes of a stream are unsent or one write takes too long, so the memory that it holds is
// bounded.
#include "inference/server/http_connection.h"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include "inference/server/connection_answer.h"
#include "inference/server/http_text.h"
#include "utils/log.h"

namespace mpitron::inference {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

HttpConnection::HttpConnection(HttpConnections& all, tcp::socket socket)
    : all_(all),
      stream_(std::move(socket)),
      reader_(stream_, all.settings, all.bodies, all.pace),
      unsent_held_(all.unsent),
      ping_(all.context) {
  error_code ignored;
  stream_.socket().set_option(tcp::no_delay(true), ignored);
}

void HttpConnection::begin() {
  const bool full = all_.open.size() >= all_.settings.max_connections;
  all_.open.insert(shared_from_this());
  all_.count = all_.open.size();
  full ? refuse(refusal(503, "too many connections")) : read();
}

/// Reads the next request within the settings' patience; a connection that sends nothing is closed.
void HttpConnection::read() {
  const auto self = shared_from_this();
  reader_.read([self] { self->write("HTTP/1.1 100 Continue\r\n\r\n", false); },
               [self](ReadResult result) {
                 if (self->closed_ || (!result.request && !result.refusal)) {
                   self->close();
                 } else if (result.refusal) {
                   self->refuse_later(*std::move(result.refusal));
                 } else {
                   self->handle(std::move(*result.request), std::move(result.held));
                 }
               });
}

void HttpConnection::refuse(const HttpReply& reply) {
  keep_alive_ = false;
  send(reply);
}

/// A client that sends what is no request, again and again, gets no faster than the pause allows.
void HttpConnection::refuse_later(HttpReply reply) {
  ping_.expires_after(all_.settings.refusal_pause);
  ping_.async_wait([self = shared_from_this(), reply = std::move(reply)](error_code error) {
    error ? self->close() : self->refuse(reply);
  });
}

/// Hands a request to the handler, on the thread for long bodies or on that for short ones; `held`
/// is given back when the handler has returned. HTTP/1.0 clients get streams without chunks, ended
/// by the end of the connection.
void HttpConnection::handle(HttpMessage message, ByteCharge held) {
  constexpr std::size_t kShort = std::size_t{64} << 10;
  stream_.expires_never();
  chunked_ = message.version() >= 11;
  keep_alive_ = message.keep_alive() && chunked_;
  with_body_ = message.method() != http::verb::head;
  answering_ = true;
  const std::string_view target(message.target().data(), message.target().size());
  HttpRequest request{.method = std::string(message.method_string()),
                      .target = std::string(target.substr(0, target.find('?'))),
                      .authorization = std::string(message[http::field::authorization]),
                      .body = message.body().take()};
  watch();
  // Chosen before the body moves into what runs there.
  asio::thread_pool& pool = request.body.size() > kShort ? all_.long_requests : all_.short_requests;
  asio::post(pool, [&handler = all_.handler, request = std::move(request), held = std::move(held),
                    answer = std::make_shared<ConnectionAnswer>(all_.context, shared_from_this())] {
    try {
      handler(request, answer);
    } catch (const std::exception& error) {
      log::warning("server: {} {}: {}", request.method, request.target, error.what());
      answer->send(refusal(500, "the server failed"));
    }
  });
}

/// Looks for a client that closes its end while its answer is being made, so that its generation
/// can be cancelled.
void HttpConnection::watch() {
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

void HttpConnection::send(const HttpReply& reply) {
  write(reply_text(reply, keep_alive_, with_body_), true);
}

void HttpConnection::begin_events() {
  std::string head = head_text(200, "text/event-stream; charset=utf-8", keep_alive_);
  head += chunked_ ? "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
                   : "Cache-Control: no-cache\r\n\r\n";
  write(std::move(head), false);
  ping_later();
}

void HttpConnection::write_events(const std::string& text) {
  write(chunked_ ? fmt::format("{:x}\r\n{}\r\n", text.size(), text) : text, false);
}

void HttpConnection::end_events() {
  ping_.cancel();
  write(chunked_ ? "0\r\n\r\n" : "", true);
}

void HttpConnection::on_leave(std::function<void()> call) {
  if (closed_) {
    call();
  } else if (answering_) {
    leave_ = std::move(call);
  }
}

/// Queues text. Where this connection, or all of them, may not hold so many unsent bytes, it is
/// closed, unless the text is the last of an answer.
void HttpConnection::write(std::string text, bool last) {
  if (closed_) {
    return;
  }
  unsent_bytes_ += text.size();
  last_ = last_ || last;
  const bool fits =
      unsent_bytes_ <= all_.settings.max_unsent_bytes && unsent_held_.hold(unsent_bytes_);
  if (!fits && !last) {
    close();
    return;
  }
  unsent_.push_back(std::move(text));
  write_next();
}

void HttpConnection::write_next() {
  if (writing_ || unsent_.empty()) {
    return;
  }
  writing_ = true;
  stream_.expires_after(all_.settings.patience);
  asio::async_write(stream_, asio::buffer(unsent_.front()),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      self->writing_ = false;
                      error || self->closed_ ? self->close() : self->written();
                    });
}

void HttpConnection::written() {
  unsent_bytes_ -= unsent_.front().size();
  unsent_.pop_front();
  unsent_held_.hold(unsent_bytes_);
  if (!unsent_.empty()) {
    write_next();
  } else if (last_) {
    last_ = false;
    answering_ = false;
    leave_ = nullptr;
    keep_alive_ ? read() : close();
  } else if (answering_) {
    stream_.expires_never();
  }
}

/// Sends a comment at equal intervals while a stream is open: proxies cut connections without
/// traffic.
void HttpConnection::ping_later() {
  ping_.expires_after(all_.settings.ping);
  ping_.async_wait([self = shared_from_this()](error_code error) {
    if (!error && self->answering_ && !self->closed_ && !self->last_) {
      self->write_events(": ping\n\n");
      self->ping_later();
    }
  });
}

/// Closes once, and tells whoever waits for this client that it has left.
void HttpConnection::close() {
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
  all_.open.erase(shared_from_this());
  all_.count = all_.open.size();
}

}  // namespace mpitron::inference
