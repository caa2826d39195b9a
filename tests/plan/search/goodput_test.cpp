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
    double best = interval;  // the optimum found by trying
    for (double tried = 0.5 * interval; tried < 2 * interval; tried += 0.5) {
      best = goodput(model, tried) > goodput(model, best) ? tried : best;
    }
    EXPECT_NEAR(best, interval, 5);
    EXPECT_GT(young_interval(model), interval - c.checkpoint);
  }
}

TEST(Goodput, PlayedRunsTakeAsLongAsTheFormulaSays) {
  const FailureModel model{50000.0 * 3600 / 4096, 60, 600};
  const double interval = best_interval(model), training = 30.0 * 86400;
  const RunForecast played = forecast(model, interval, training);
  EXPECT_NEAR(played.days, 30 / goodput(model, interval), 0.02 * played.days);
  EXPECT_LT(played.days_low, played.days);
  EXPECT_GT(played.days_high, played.days);
  EXPECT_NEAR(played.restarts, played.days * 86400 / model.between_failures,
              0.05 * played.restarts);
  EXPECT_EQ(forecast(model, interval, training).days, played.days);
}

TEST(Goodput, CheckpointsThatAreLongOnTheirWayLoseMore) {
  FailureModel model{20000, 30, 300};
  const double before = goodput(model, 1000);
  model.durable = 500;
  EXPECT_LT(goodput(model, 1000), before);
  EXPECT_GT(forecast(model, 1000, 1e6).days, forecast({20000, 30, 300}, 1000, 1e6).days);
}

}  // namespace goodput_test
}  // namespace mpitron::plan
