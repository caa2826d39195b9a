#include "comm/groups/work.h"

#include <chrono>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "comm/groups/world.h"

namespace mpitron::comm {
namespace work_test {

constexpr std::chrono::milliseconds kStep(1);

/// Ends at the given call of `step`; each one takes a millisecond at least.
class SlowOperation : public Operation {
 public:
  explicit SlowOperation(int calls) : calls_(calls) {}
  bool step() override {
    std::this_thread::sleep_for(kStep);
    return --calls_ <= 0;
  }
  std::vector<Index> absent() const override { return {}; }

 private:
  int calls_;
};

double waited_for(int calls) {
  const auto engine = std::make_shared<ProgressEngine>();
  const auto world = make_single_world();
  const double before = waited_seconds();
  engine->start(std::make_shared<SlowOperation>(calls), *world->all(), {}).wait();
  return waited_seconds() - before;
}

TEST(WaitingTime, LongWaitsCount) {
  constexpr int kAfterPolls = 10;
  EXPECT_GE(waited_for(66 + kAfterPolls),
            std::chrono::duration<double>(kStep).count() * (kAfterPolls - 1));
}

TEST(WaitingTime, WhatIsThereAlreadyTakesNoTime) {
  EXPECT_EQ(waited_for(1), 0);
}

TEST(WaitingTime, AddsUpForEachThreadAlone) {
  const double before = waited_seconds();
  add_waited_seconds(1.5);
  add_waited_seconds(0.25);
  EXPECT_DOUBLE_EQ(waited_seconds() - before, 1.75);
  double elsewhere = -1;
  std::thread([&] { elsewhere = waited_seconds(); }).join();
  EXPECT_EQ(elsewhere, 0);
}

}  // namespace work_test
}  // namespace mpitron::comm
