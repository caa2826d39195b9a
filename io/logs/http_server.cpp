#include "io/logs/http_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "utils/error.h"
#include "utils/numbers/shape.h"

// A poll loop over nonblocking sockets: accept, read a request line, answer, close. It must never
// hold up a training, so everything has a limit: connections, bytes, seconds.

namespace mpitron::io {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLargestRequest = 8192;

constexpr std::size_t kMostConnections = 64;

/// Where the head of a request ends: an empty line, with or without carriage returns.
bool head_is_whole(std::string_view text) {
  return text.find("\r\n\r\n") != std::string_view::npos ||
         text.find("\n\n") != std::string_view::npos;
}

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Service Unavailable";
  }
}

/// A bound and listening socket, or -1 with errno.
int listen_at(const addrinfo& address) {
  constexpr int kWaitingClients = 128;
  const int socket = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (socket >= 0 && ::bind(socket, address.ai_addr, address.ai_addrlen) == 0 &&
      ::listen(socket, kWaitingClients) == 0) {
    return socket;
  }
  const int reason = errno;
  ::close(socket);
  errno = reason;
  return -1;
}

int port_of(int socket) {
  sockaddr_storage name{};
  socklen_t size = sizeof(name);
  std::array<char, NI_MAXSERV> port{};
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size) == 0) {
    ::getnameinfo(reinterpret_cast<sockaddr*>(&name), size, nullptr, 0, port.data(), port.size(),
                  NI_NUMERICSERV);
  }
  return std::atoi(port.data());
}

}  // namespace

HttpServer::HttpServer(const std::string& address, int port, Handler handler,
                       std::chrono::milliseconds patience)
    : handler_(std::move(handler)), patience_(patience) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (const int code =
          ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &wanted, &found)) {
    throw_environment("cannot listen at {}: {}; give an address like 127.0.0.1, 0.0.0.0 or ::1",
                      address, ::gai_strerror(code));
  }
  listening_ = listen_at(*found);
  const int reason = errno;
  ::freeaddrinfo(found);
  if (listening_ < 0) {
    throw_environment("cannot listen at {} port {}: {}", address, port, std::strerror(reason));
  }
  port_ = port_of(listening_);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
  ::eventfd_write(stop_, 1);
  thread_.join();
  ::close(stop_);
  ::close(listening_);
}

/// One client: its request comes, the answer goes, and what it sends meanwhile is taken off it,
/// since to close before would take the answer from it.
struct HttpServer::Connection {
  int socket = -1;
  Clock::time_point deadline;
  std::string head = {};
  std::string answer = {};  // what is still to be sent
  bool answering = false;
  std::size_t taken = 0;  // bytes behind the request

  short waits_for() const { return answering && !answer.empty() ? POLLOUT : POLLIN; }
  int left_ms(Clock::time_point now) const {
    return static_cast<int>(
        std::max<Index>(0, std::chrono::ceil<std::chrono::milliseconds>(deadline - now).count()));
  }
};

void HttpServer::serve() const {
  std::vector<Connection> connections;
  while (true) {
    std::vector<pollfd> waiting{{stop_, POLLIN, 0}, {listening_, POLLIN, 0}};
    waiting[1].events = connections.size() < kMostConnections ? POLLIN : 0;
    int limit_ms = -1;
    const auto now = Clock::now();
    for (const Connection& c : connections) {
      waiting.push_back({c.socket, c.waits_for(), 0});
      limit_ms = limit_ms < 0 ? c.left_ms(now) : std::min(limit_ms, c.left_ms(now));
    }
    if ((::poll(waiting.data(), waiting.size(), limit_ms) < 0 && errno != EINTR) ||
        waiting[0].revents != 0) {
      break;
    }
    for (std::size_t i = 0; i < connections.size(); ++i) {
      if (waiting[i + 2].revents != 0 && !advance(connections[i])) {
        connections[i].deadline = Clock::time_point::min();
      }
    }
    if (waiting[1].revents != 0) {
      accept_into(connections);
    }
    std::erase_if(connections, [](const Connection& c) {
      const bool over = c.deadline <= Clock::now();
      return over && ::close(c.socket) == 0;
    });
  }
  for (const Connection& c : connections) {
    ::close(c.socket);
  }
}

void HttpServer::accept_into(std::vector<Connection>& connections) const {
  const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket >= 0) {
    connections.push_back({.socket = socket, .deadline = Clock::now() + patience_});
  } else if (errno == EMFILE || errno == ENFILE) {
    // The client stays in the queue, and would be announced again at once.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

/// Takes or sends what is ready; false when the connection has done its service.
bool HttpServer::advance(Connection& c) const {
  if (c.waits_for() == POLLOUT) {
    const ssize_t count = ::send(c.socket, c.answer.data(), c.answer.size(), MSG_NOSIGNAL);
    if (count > 0) {
      c.answer.erase(0, static_cast<std::size_t>(count));
    }
    if (c.answer.empty()) {
      ::shutdown(c.socket, SHUT_WR);
    }
    return count > 0 || errno == EAGAIN;
  }
  std::array<char, 1024> piece;
  const ssize_t count = ::recv(c.socket, piece.data(), piece.size(), 0);
  if (count < 0) {
    return errno == EAGAIN;
  }
  if (c.answering) {
    c.taken += static_cast<std::size_t>(count);
    return count > 0 && c.taken < 8 * kLargestRequest;
  }
  c.head.append(piece.data(), static_cast<std::size_t>(count));
  if (count == 0 || head_is_whole(c.head) || c.head.size() >= kLargestRequest) {
    c.answer = answer_to(c.head);
    c.answering = true;
  }
  return true;
}

std::string HttpServer::answer_to(const std::string& head) const {
  const std::size_t space = head.find(' ');
  const std::size_t end = head.find_first_of(" ?\r\n", space + 1);
  HttpAnswer answer{.status = 400, .body = "this is no request of HTTP\n"};
  if (space != std::string::npos && end != std::string::npos &&
      head.find(" HTTP/1.") != std::string::npos) {
    answer = head.substr(0, space) == "GET" ? handler_(head.substr(space + 1, end - space - 1))
                                            : HttpAnswer{.status = 405, .body = "GET only\n"};
  }
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
      answer.status, reason_of(answer.status), answer.type, answer.body.size(), answer.body);
}

}  // namespace mpitron::io
