#pragma once
#include "utils/numbers/shape.h"
#include "utils/timer.h"

namespace mpitron::data {

/// Whether training waits for its images. Told once: how many a second were given and how many are
/// needed.
class LoaderPace {
 public:
  LoaderPace(Index rows, Index threads) : rows_(rows), threads_(threads) {}

  /// After each batch. `waited`: seconds that the consumer has waited since the start.
  void batch_taken(double waited);

 private:
  Index rows_, threads_;
  Index batches_ = 0;
  double first_wait_ = 0;
  bool told_ = false;
  Timer timer_;
};

}  // namespace mpitron::data
