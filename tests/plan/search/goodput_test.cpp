#include "plan/search/goodput.h"

#include <gtest/gtest.h>

namespace mpitron::plan {
namespace goodput_test {

TEST(Goodput, IsThatOfTheTable) {
  struct Case {
    double gpus, checkpoint, restart, interval, goodput;
  };
  for (const Case& c : {Case{1024, 60, 300, 4553, 0.9724}, Case{4096, 60, 600, 2257, 0.9358},
                        Case{16384, 60, 600, 1109, 0.8513}, Case{16384, 5, 600, 328, 0.9186},
                        Case{16384, 300, 900, 2371, 0.7225}}) {
    const FailureModel model{50000.0 * 3600 / c.gpus, c.checkpoint, c.restart};
    const double interval = best_interval(model);
    EXPECT_NEAR(interval, c.interval, 0.6);
    EXPECT_NEAR(goodput(model, interval), c.goodput, 6e-5);
    EXPECT_GE(goodput(model, interval) + 1e-4, goodput(model, 1.2 * interval));
    EXPECT_GE(goodput(model, interval) + 1e-4, goodput(model, 0.8 * interval));
  }
}

}  // namespace goodput_test
}  // namespace mpitron::plan
