#include "plan/time/layer_time.h"

#include <gtest/gtest.h>

#include "plan/time/timed_layer.h"

namespace mpitron::plan {
namespace layer_time_test {

/// Rows of eight ranks' pieces fill their waves less well; only half of the traffic is hidden.
TEST(LayerTime, ProductsThatHideTrafficGoInPieces) {
  Stack stack = *Library().stack("megatron");
  const auto products = [&](double overlap, bool sequence_parallel) {
    stack.tensor_overlap = overlap;
    config::RunConfig run = test::planned_run(test::kTimedGpt, 2048, 64, {.gpus = 8, .tensor = 8});
    run.parallel.sequence_parallel = sequence_parallel;
    const Job job = make_job(run);
    return layer_time({*Library().machine("h100-dgx"), stack, job}, job.work->kinds().front())
        .forward.products;
  };
  EXPECT_EQ(products(0.8, false), products(0, false));
  EXPECT_GT(products(0.8, true), 1.02 * products(0, true));
  EXPECT_NEAR(products(0.4, true), (products(0, true) + products(0.8, true)) / 2, 1e-9);
}

TEST(LayerTime, BothPassesAreSummedUpByCause) {
  const LayerTime time = test::timed_layer({.gpus = 8}, 2048, *Library().stack("megatron"));
  EXPECT_EQ(time.both().products, time.forward.products + time.backward.products);
  EXPECT_NEAR(time.both().sum(), time.forward.sum() + time.backward.sum(), 1e-12);
}

}  // namespace layer_time_test
}  // namespace mpitron::plan
