#pragma once
#include <array>
#include <string>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mpitron::test {

/// A socket that is connected to a port of this machine; -1 where nobody listens.
inline int connected_socket(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
    return socket;
  }
  ::close(socket);
  return -1;
}

/// Sends bytes to a port of this machine; everything that comes back until the other side closes.
inline std::string http(int port, const std::string& request) {
  const int socket = connected_socket(port);
  std::string answer;
  if (socket >= 0) {
    ::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
    std::array<char, 4096> piece;
    for (ssize_t count = 0; (count = ::recv(socket, piece.data(), piece.size(), 0)) > 0;) {
      answer.append(piece.data(), static_cast<std::size_t>(count));
    }
  }
  ::close(socket);
  return answer;
}

}  // namespace mpitron::test
