#pragma once
#include "train/timing/timers.h"

namespace mpitron::train {

/// Time of this rank: all of it, and what of it was spent waiting for other ranks.
struct StepTime {
  double seconds = 0;
  double waited = 0;
  double busy() const { return seconds - waited; }
};

/// A stopwatch of training that tells waiting from work.
class StepClock {
 public:
  void start();
  void stop();
  /// Since the last call; a running clock goes on.
  StepTime elapsed();

 private:
  NamedTimer timer_;
  double waited_ = 0;  // of finished stretches
  double mark_ = 0;    // comm::waited_seconds() where the running one began
};

}  // namespace mpitron::train
