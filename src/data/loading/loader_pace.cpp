#include "data/loading/loader_pace.h"

#include "utils/log.h"

namespace mpitron::data {

void LoaderPace::batch_taken(double waited) {
  constexpr Index kUnmeasured = 4;  // batches in which caches and threads warm up
  constexpr Index kMeasured = 50;   // at least
  constexpr double kSeconds = 10;   // likewise
  constexpr double kShare = 0.01;   // of the time that may be spent in waiting
  if (told_ || ++batches_ <= kUnmeasured) {
    timer_.restart();
    first_wait_ = waited;
    return;
  }
  const Index batches = batches_ - kUnmeasured;
  const double seconds = timer_.seconds(), wait = waited - first_wait_;
  if (batches < kMeasured || seconds < kSeconds) {
    return;
  }
  told_ = true;
  const auto images = static_cast<double>(batches * rows_);
  if (wait > kShare * seconds && wait < seconds) {
    log::warning(
        "training waits for images {:.0f} % of the time: {:.0f} a second are decoded, {:.0f} are "
        "needed; --num-workers (now {}) decode on more threads",
        100 * wait / seconds, images / seconds, images / (seconds - wait), threads_);
  }
}

}  // namespace mpitron::data
