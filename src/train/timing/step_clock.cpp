#include "train/timing/step_clock.h"

#include <utility>

#include "comm/groups/work.h"

namespace mpitron::train {

void StepClock::start() {
  timer_.start();
  mark_ = comm::waited_seconds();
}

void StepClock::stop() {
  timer_.stop();
  waited_ += comm::waited_seconds() - mark_;
}

StepTime StepClock::elapsed() {
  const double seconds = timer_.elapsed();
  if (timer_.running()) {
    const double now = comm::waited_seconds();
    waited_ += now - std::exchange(mark_, now);
  }
  return {.seconds = seconds, .waited = std::exchange(waited_, 0.0)};
}

}  // namespace mpitron::train
