#pragma once
#include <chrono>

namespace mpitron {

/// Seconds since construction or the last restart, by the monotonic clock.
class Timer {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void restart() { start_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace mpitron
