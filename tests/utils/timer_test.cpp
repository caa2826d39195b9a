#include "utils/timer.h"

#include <thread>

#include <gtest/gtest.h>

namespace mpitron {
namespace timer_test {

TEST(Timer, MeasuresSecondsAndStartsAgain) {
  using namespace std::chrono_literals;
  Timer timer;
  EXPECT_GE(timer.seconds(), 0);
  std::this_thread::sleep_for(20ms);
  const double before = timer.seconds();
  EXPECT_GE(before, 0.02);
  EXPECT_LT(before, 10);  // seconds, not milliseconds
  EXPECT_GE(timer.seconds(), before);
  const auto start = std::chrono::steady_clock::now();
  timer.restart();
  const double after = timer.seconds();
  EXPECT_LE(after, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace timer_test
}  // namespace mpitron
