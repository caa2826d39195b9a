#include "comm/watch/flight_service.h"

#include <thread>

#include <gtest/gtest.h>
#include <poll.h>

#include "utils/system/machine.h"

namespace mpitron::comm {
namespace flight_service_test {

/// What a service that answers once says.
std::string ask(const FlightService& service, const FlightService::Address& address, Index rank) {
  const auto describe = [](Index known) { return "this is rank " + std::to_string(known); };
  std::thread answering([&] {
    pollfd asked{.fd = service.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&asked, 1, 10'000);
    service.answer(describe);
  });
  const std::string answer = ask_flight_service(host_name(), address, rank);
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
  EXPECT_EQ(ask_flight_service(host_name(), service.address(), 0), "");
}

TEST(FlightService, NoneIsNoAnswer) {
  EXPECT_EQ(ask_flight_service(host_name(), {}, 0), "");
  FlightService::Address gone;
  {
    const FlightService service;
    gone = service.address();
  }
  EXPECT_EQ(ask_flight_service(host_name(), gone, 0), "");
}

}  // namespace flight_service_test
}  // namespace mpitron::comm
