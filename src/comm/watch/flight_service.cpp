#include "comm/watch/flight_service.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "utils/system/machine.h"

// Answers to ranks of other nodes that ask what a rank of this one is doing. A key of the run keeps
// strangers out; every socket gives up after a second, so that asking about a dead machine does not
// hang the asker.

namespace mpitron::comm {
namespace {

struct Question {
  std::uint64_t key;
  Index rank;
};

/// Limits reads, writes and connects to a second.
void limit_to_a_second(int socket) {
  const timeval second{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
}

/// Connects by TCP, since the ranks to ask are those on other nodes; a second is enough on a living
/// network.
int connect_to(const std::string& host, std::uint16_t port) {
  const addrinfo hints{.ai_flags = 0, .ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  // The own name need not be known to any server of names.
  const char* const name = host == host_name() ? "127.0.0.1" : host.c_str();
  if (::getaddrinfo(name, std::to_string(port).c_str(), &hints, &found) != 0) {
    return -1;
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  limit_to_a_second(socket);
  if (::connect(socket, found->ai_addr, found->ai_addrlen) != 0) {
    ::close(socket);
    return -1;
  }
  return socket;
}

}  // namespace

/// Listens on any free port; its address travels with the introductions.
FlightService::FlightService()
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_in any{};
  any.sin_family = AF_INET;  // any port of any interface
  socklen_t size = sizeof(any);
  auto* const address = reinterpret_cast<sockaddr*>(&any);
  constexpr int kAskers = 128;
  if (socket_ < 0 || ::bind(socket_, address, size) != 0 || ::listen(socket_, kAskers) != 0 ||
      ::getsockname(socket_, address, &size) != 0) {
    ::close(std::exchange(socket_, -1));
    return;
  }
  std::random_device random;
  address_ = {.port = ntohs(any.sin_port), .key = (std::uint64_t{random()} << 32) | random()};
}

FlightService::~FlightService() {
  ::close(socket_);
}

/// Answers one question a connection: the number of a rank. Runs on the watchdog's thread.
void FlightService::answer(const std::function<std::string(Index rank)>& describe) const {
  const int asker = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  if (asker < 0) {
    return;
  }
  limit_to_a_second(asker);
  Question question{};
  if (::recv(asker, &question, sizeof(question), MSG_WAITALL) == sizeof(question) &&
      question.key == address_.key) {
    const std::string text = describe(question.rank);
    static_cast<void>(!::send(asker, text.data(), text.size(), MSG_NOSIGNAL));
  }
  ::close(asker);
}

/// Asks; empty where nobody answers in time: the asker says so instead.
std::string ask_flight_service(const std::string& host, const FlightService::Address& address,
                               Index rank) {
  const int socket = address.port == 0 ? -1 : connect_to(host, address.port);
  if (socket < 0) {
    return "";
  }
  const Question question{.key = address.key, .rank = rank};
  std::string answer;
  if (::send(socket, &question, sizeof(question), MSG_NOSIGNAL) == sizeof(question)) {
    std::array<char, 1024> part{};
    for (ssize_t n = 1; n > 0;) {
      n = ::recv(socket, part.data(), part.size(), 0);
      answer.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    }
  }
  ::close(socket);
  return answer;
}

}  // namespace mpitron::comm
