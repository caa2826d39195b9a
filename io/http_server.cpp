#include "io/http_server.h"

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

namespace mpitron::io {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLargestRequest = 8192;

/// Until the deadline; false when it is over.
bool ready(int socket, short what, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  pollfd waiting{socket, what, 0};
  return left.count() > 0 && ::poll(&waiting, 1, static_cast<int>(left.count())) == 1;
}

/// The head of the request; what there is of it when the client or the time ends.
std::string read_head(int connection, Clock::time_point deadline) {
  std::string head;
  std::array<char, 1024> piece;
  while (head.find("\r\n\r\n") == std::string::npos && head.size() < kLargestRequest &&
         ready(connection, POLLIN, deadline)) {
    const ssize_t count = ::recv(connection, piece.data(), piece.size(), 0);
    if (count <= 0) {
      break;
    }
    head.append(piece.data(), static_cast<std::size_t>(count));
  }
  return head;
}

void write_all(int connection, std::string_view text, Clock::time_point deadline) {
  while (!text.empty() && ready(connection, POLLOUT, deadline)) {
    const ssize_t count = ::send(connection, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count <= 0) {
      return;
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// Takes what the client still sends: to close before would take the answer from it.
void finish(int connection, Clock::time_point deadline) {
  ::shutdown(connection, SHUT_WR);
  std::array<char, 1024> piece;
  for (std::size_t taken = 0; taken < 8 * kLargestRequest && ready(connection, POLLIN, deadline);) {
    const ssize_t count = ::recv(connection, piece.data(), piece.size(), 0);
    if (count <= 0) {
      return;
    }
    taken += static_cast<std::size_t>(count);
  }
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
  constexpr int kWaitingClients = 16;
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
                       std::chrono::seconds patience)
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

void HttpServer::serve() const {
  while (true) {
    std::array<pollfd, 2> waiting{pollfd{listening_, POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
    if (::poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) {
      return;
    }
    if (waiting[1].revents != 0) {
      return;
    }
    if (waiting[0].revents != 0) {
      const int connection = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection >= 0) {
        answer(connection);
        ::close(connection);
      }
    }
  }
}

void HttpServer::answer(int connection) const {
  const auto deadline = Clock::now() + patience_;
  const std::string head = read_head(connection, deadline);
  const std::size_t space = head.find(' ');
  const std::size_t end = head.find_first_of(" ?\r\n", space + 1);
  HttpAnswer answer{.status = 400, .body = "this is no request of HTTP\n"};
  if (space != std::string::npos && end != std::string::npos &&
      head.find(" HTTP/1.") != std::string::npos) {
    answer = head.substr(0, space) == "GET" ? handler_(head.substr(space + 1, end - space - 1))
                                            : HttpAnswer{.status = 405, .body = "GET only\n"};
  }
  write_all(connection,
            fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
                        "Connection: close\r\n\r\n{}",
                        answer.status, reason_of(answer.status), answer.type, answer.body.size(),
                        answer.body),
            deadline);
  finish(connection, deadline);
}

}  // namespace mpitron::io
