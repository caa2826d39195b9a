#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "utils/numbers/shape.h"

namespace mpitron::comm {

/// Tells ranks of other machines what this one's have done last: they cannot read its memory. A TCP
/// socket; a number that only the ranks of the job know keeps others out.
class FlightService {
 public:
  /// Place to ask; port 0: nowhere.
  struct Address {
    std::uint16_t port = 0;
    std::uint64_t key = 0;
  };
  /// Opens the socket; without one (the system refuses) nobody can ask.
  FlightService();
  ~FlightService();
  FlightService(const FlightService&) = delete;
  FlightService& operator=(const FlightService&) = delete;

  Address address() const { return address_; }
  /// Returns a descriptor that is readable while somebody asks; -1 without a socket.
  int descriptor() const { return socket_; }
  /// Answers one question with what `describe` knows of a rank; whoever asks slowly is left alone
  /// after a second.
  void answer(const std::function<std::string(Index rank)>& describe) const;

 private:
  int socket_ = -1;
  Address address_;
};

/// Asks the service at `address` of `host` about `rank`; empty where none answers in a second.
std::string ask_flight_service(const std::string& host, const FlightService::Address& address,
                               Index rank);

}  // namespace mpitron::comm
