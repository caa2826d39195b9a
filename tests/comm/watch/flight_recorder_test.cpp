#include "comm/watch/flight_recorder.h"

#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "comm/groups/world.h"

namespace mpitron::comm {
namespace flight_recorder_test {

TEST(FlightRecorder, TheLastOperationsWithWhatTheyMove) {
  const auto ring = std::make_unique<FlightRing>();
  FlightRecorder recorder(*ring);
  EXPECT_EQ(ring->last(), nullptr);
  recorder.set_phase("start");
  EXPECT_EQ(describe(*ring), "it has started no operation, in phase 'start'");

  const auto world = make_fake_world(1, 4);
  const auto group = world->make_group("data", {1, 3});
  std::vector<float> x(6);
  const TensorView view(x.data(), DType::f32, {6});
  FlightRecord& record =
      recorder.start(*group, {.kind = CollectiveKind::all_reduce, .output = view});
  EXPECT_EQ(describe(record), "all_reduce 1 of group data (2 ranks, fp32, 24 bytes)");
  EXPECT_NE(describe(*ring).find("under way for 0."), std::string::npos);
  FlightRecorder::finish(record);
  EXPECT_NE(describe(*ring).find("finished 0."), std::string::npos);
}

TEST(FlightRecorder, TheRingGoesRoundAndLongNamesAreCut) {
  const auto ring = std::make_unique<FlightRing>();
  FlightRecorder recorder(*ring);
  const auto world = make_fake_world(0, 2);
  const auto group = world->make_group(std::string(100, 'g'), {0, 1});
  for (int i = 0; i < 1000; ++i) {
    recorder.start(*group, {.kind = CollectiveKind::barrier});
  }
  EXPECT_EQ(ring->last()->number, 1000u);
  EXPECT_EQ(std::string(ring->last()->group), std::string(31, 'g'));
  recorder.set_phase(std::string(100, 'p'));
  EXPECT_EQ(ring->phase.get(), std::string(63, 'p'));
}

TEST(FlightRecorder, APhaseIsReadWhileItIsReplaced) {
  SharedText phase{};
  std::thread writer([&] {
    for (int i = 0; i < 1000; ++i) {
      phase.set(std::string(63, i % 2 == 0 ? 'a' : 'b'));
    }
  });
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(phase.get().find_first_not_of("ab"), std::string::npos);
  }
  writer.join();
  EXPECT_EQ(phase.get(), std::string(63, 'b'));
}

}  // namespace flight_recorder_test
}  // namespace mpitron::comm
