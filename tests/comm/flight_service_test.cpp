#include "comm/flight_service.h"

#include <array>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

namespace mpitron::comm {
namespace {

std::string own_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// What a service that answers once says.
std::string ask(const FlightService& service, const FlightService::Address& address, Index rank) {
  const auto describe = [](Index known) { return "this is rank " + std::to_string(known); };
  std::thread answering([&] {
    pollfd asked{.fd = service.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&asked, 1, 10'000);
    service.answer(describe);
  });
  const std::string answer = ask_flight_service(own_host(), address, rank);
  answering.join();
  return answer;
}

TEST(FlightService, TellsWhatIsKnownOfARank) {
  const FlightService service;
  ASSERT_NE(service.address().port, 0);
  EXPECT_EQ(ask(service, service.address(), 7), "this is rank 7");
  EXPECT_EQ(ask(service, service.address(), 8), "this is rank 8");
}

TEST(FlightService, TellsNothingToWhoDoesNotKnowTheKey) {
  const FlightService service;
  FlightService::Address address = service.address();
  ++address.key;
  EXPECT_EQ(ask(service, address, 0), "");
}

TEST(FlightService, ThatIsStoppedCostsASecond) {
  const FlightService service;
  EXPECT_EQ(ask_flight_service(own_host(), service.address(), 0), "");
}

TEST(FlightService, NoneIsNoAnswer) {
  EXPECT_EQ(ask_flight_service(own_host(), {}, 0), "");
  FlightService::Address gone;
  {
    const FlightService service;
    gone = service.address();
  }
  EXPECT_EQ(ask_flight_service(own_host(), gone, 0), "");
}

}  // namespace
}  // namespace mpitron::comm
