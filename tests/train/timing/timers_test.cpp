#include "train/timing/timers.h"

#include <chrono>
#include <regex>
#include <thread>

#include <gtest/gtest.h>

#include "comm/groups/work.h"

namespace mpitron::train {
namespace timers_test {

using config::TimingLogOption;
using namespace std::chrono_literals;

const std::vector<std::string> kNames{"forward-backward", "optimizer"};

/// Two ranks: this one, whose times are replaced, and another.
TimerGroup two_ranks(std::vector<float> times) {
  TimerGroup group;
  group.gather = [times](std::span<const float>) { return times; };
  group.world_size = 2;
  return group;
}

TEST(Timers, MinMaxLines) {
  Timers timers(1, TimingLogOption::minmax, two_ranks({12.5, 0, 10.25, 3}));
  EXPECT_EQ(timers.report(kNames),
            "(min, max) time across ranks (ms):"
            "\n    forward-backward ...............................: (10.25, 12.50)"
            "\n    optimizer ......................................: (3.00, 3.00)");
}

TEST(Timers, MaxLines) {
  Timers timers(1, TimingLogOption::max, two_ranks({12.5, 0, 10.25, 0}));
  EXPECT_EQ(timers.report(kNames),
            "max time across ranks (ms):"
            "\n    forward-backward ...............................: 12.50");
}

TEST(Timers, AllRanks) {
  Timers timers(1, TimingLogOption::all, two_ranks({12.5, 0, 10.25, 3}));
  EXPECT_EQ(timers.report(kNames),
            "times across ranks (ms):"
            "\n  forward-backward:\n     rank  0: 12.50\n     rank  1: 10.25"
            "\n  optimizer:\n     rank  1: 3.00");
}

TEST(Timers, TheLongestAreInSecondsAndNotReset) {
  Timers timers(1, TimingLogOption::max, two_ranks({250, 0, 500, 0}));
  const auto longest = timers.longest(kNames, 1.0);
  ASSERT_EQ(longest.size(), 1u);  // nobody ran the optimizer
  EXPECT_EQ(longest[0], std::pair(std::string("forward-backward"), 0.5));
  Timers own(0, TimingLogOption::max);
  {
    const TimerScope scope = own.scope("optimizer", 0);
    std::this_thread::sleep_for(2ms);
  }
  const auto once = own.longest(kNames, 1.0), half = own.longest(kNames, 2.0);
  ASSERT_EQ(once.size(), 1u);
  EXPECT_GE(once[0].second, 2e-3);
  EXPECT_NEAR(half[0].second, once[0].second / 2, 1e-9);
}

TEST(Timers, NothingTimedGivesNoReport) {
  for (const auto option : {TimingLogOption::minmax, TimingLogOption::max, TimingLogOption::all}) {
    Timers timers(2, option);
    EXPECT_EQ(timers.report(kNames), std::nullopt);
  }
}

TEST(Timers, ReportsNormalisedTimesAndResets) {
  Timers timers(0, TimingLogOption::max);
  for (int i = 0; i < 2; ++i) {
    const TimerScope scope = timers.scope("optimizer", 0);
    std::this_thread::sleep_for(10ms);
  }
  const std::string text = timers.report(kNames, 2.0).value();
  std::smatch match;
  ASSERT_TRUE(std::regex_search(text, match, std::regex(R"(: ([0-9.]+)$)"))) << text;
  EXPECT_GE(std::stod(match[1]), 10.0);
  EXPECT_LT(std::stod(match[1]), 5000.0);  // milliseconds, not microseconds
  EXPECT_EQ(timers.report(kNames), std::nullopt);
}

TEST(Timers, LevelsAboveTheOptionAreOff) {
  Timers timers(1, TimingLogOption::max);
  EXPECT_EQ(timers.find("batch-generator", 2), nullptr);
  EXPECT_NE(timers.find("optimizer", 1), nullptr);
  EXPECT_EQ(timers.names(), std::vector<std::string>{"optimizer"});
}

TEST(Timers, BarrierBeforeLevelOne) {
  int barriers = 0;
  TimerGroup group;
  group.barrier = [&] { ++barriers; };
  Timers timers(1, TimingLogOption::max, group);
  timers.scope("interval-time", 0);
  timers.scope("optimizer", 1);
  timers.scope("forward-compute", 2);
  EXPECT_EQ(barriers, 1);
}

TEST(Timers, RunningTimerGoesOn) {
  NamedTimer timer;
  timer.start();
  std::this_thread::sleep_for(2ms);
  EXPECT_GE(timer.elapsed(), 0.002);
  EXPECT_TRUE(timer.running());
  std::this_thread::sleep_for(2ms);
  timer.stop();
  EXPECT_GE(timer.elapsed(false), 0.002);
  EXPECT_GT(timer.elapsed(true), 0.0);
  EXPECT_EQ(timer.elapsed(), 0.0);
}

TEST(Timers, MisuseIsABrokenInvariant) {
  NamedTimer timer;
  EXPECT_THROW(timer.stop(), InternalError);
  timer.start();
  EXPECT_THROW(timer.start(), InternalError);
  Timers timers(2, TimingLogOption::max);
  timers.find("x", 1);
  EXPECT_THROW(timers.find("x", 2), InternalError) << "one name, one level";
}

TEST(Timers, LetTheDeviceSettleAroundWhatIsTimed) {
  int settled = 0;
  Timers timers(1, config::TimingLogOption::max, {.settle = [&] { ++settled; }});
  { const TimerScope untimed = timers.scope("fine", 2); }
  EXPECT_EQ(settled, 0);
  {
    const TimerScope timed = timers.scope("part", 1);
    EXPECT_EQ(settled, 1);
  }
  EXPECT_EQ(settled, 2);
}

}  // namespace timers_test

namespace step_clock_test {

TEST(StepClock, CountsWaitingWhileItRuns) {
  StepClock clock;
  comm::add_waited_seconds(8);  // before it starts
  clock.start();
  comm::add_waited_seconds(1);
  clock.stop();
  comm::add_waited_seconds(16);  // an evaluation
  clock.start();
  comm::add_waited_seconds(2);
  const StepTime time = clock.elapsed();
  EXPECT_EQ(time.waited, 3);
  EXPECT_GE(time.seconds, 0);
  EXPECT_EQ(time.busy(), time.seconds - 3);
}

TEST(StepClock, GoesOnFromZero) {
  StepClock clock;
  clock.start();
  comm::add_waited_seconds(1);
  clock.elapsed();
  EXPECT_EQ(clock.elapsed().waited, 0);
  comm::add_waited_seconds(4);
  EXPECT_EQ(clock.elapsed().waited, 4);
}

}  // namespace step_clock_test
}  // namespace mpitron::train
