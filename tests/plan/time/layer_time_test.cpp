#include "plan/time/layer_time.h"

#include <gtest/gtest.h>

#include "plan/machine/library.h"
#include "plan/planned_run.h"

namespace mpitron::plan {
namespace layer_time_test {

constexpr test::Sizes kGpt{.layers = 8, .hidden = 8192, .heads = 64};

/// The first layer of a model whose sequences are this long.
LayerTime layer(const Layout& layout, Index sequence, const Stack& stack) {
  const Machine machine = *Library().machine("h100-dgx");
  const Job job = make_job(test::planned_run(kGpt, sequence, 64, layout));
  return layer_time({machine, stack, job}, job.work->kinds().front());
}

/// What a ring's kernels lose is what shorter ones lose: two ranks need 1.75 for a query.
TEST(LayerTime, AQueryMeetsTheKeysOfARingInSeveralKernels) {
  const Stack stack = *Library().stack("megatron");
  const Machine machine = *Library().machine("h100-dgx");
  const double sequence = 8192;
  const auto attention = [&](Index context) {
    return layer({.gpus = 8, .context = context}, 8192, stack).forward.attention;
  };
  const double whole = 1 + machine.attention_half / sequence;
  EXPECT_NEAR(2 * attention(2) / attention(1),
              (1 + 1.75 * machine.attention_half / sequence) / whole, 1e-9);
  EXPECT_NEAR(8 * attention(8) / attention(1),
              (1 + 6.25 * machine.attention_half / sequence) / whole, 1e-9);
}

TEST(LayerTime, OutputsOfARingAreSummedUp) {
  const Stack stack = *Library().stack("megatron");
  const auto moved = [&](Index context) {
    return layer({.gpus = 8, .context = context}, 8192, stack).forward.elementwise;
  };
  EXPECT_GT(2 * moved(2), 1.1 * moved(1));
  EXPECT_GT(4 * moved(4), 1.1 * 2 * moved(2));
}

/// Of two operations forward and three backward, with sequence parallelism, one is left there.
TEST(LayerTime, ProductsOfGradientsHideTensorTraffic) {
  Stack stack = *Library().stack("megatron");
  stack.tensor_overlap = 0;
  stack.backward_tensor_hidden = 0;
  const LayerTime open = layer({.gpus = 8, .tensor = 4}, 4096, stack);
  EXPECT_NEAR(open.backward.tensor, 1.5 * open.forward.tensor, 1e-12);
  stack.backward_tensor_hidden = 1;
  const LayerTime hidden = layer({.gpus = 8, .tensor = 4}, 4096, stack);
  EXPECT_EQ(hidden.forward.tensor, open.forward.tensor);
  EXPECT_NEAR(hidden.backward.tensor, 0.5 * open.forward.tensor, 1e-12);
}

/// Rows of eight ranks' pieces fill their waves less well; only half of the traffic is hidden.
TEST(LayerTime, ProductsThatHideTrafficGoInPieces) {
  Stack stack = *Library().stack("megatron");
  const auto products = [&](double overlap, bool sequence_parallel) {
    stack.tensor_overlap = overlap;
    config::RunConfig run = test::planned_run(kGpt, 2048, 64, {.gpus = 8, .tensor = 8});
    run.parallel.sequence_parallel = sequence_parallel;
    const Job job = make_job(run);
    return layer_time({*Library().machine("h100-dgx"), stack, job}, job.work->kinds().front())
        .forward.products;
  };
  EXPECT_EQ(products(0.8, false), products(0, false));
  EXPECT_GT(products(0.8, true), 1.02 * products(0, true));
  EXPECT_NEAR(products(0.4, true), (products(0, true) + products(0.8, true)) / 2, 1e-9);
}

TEST(LayerTime, AHostThatWaitsHidesNoLaunch) {
  Stack stack = *Library().stack("megatron");
  stack.launch = 1e-5;
  const double hidden = layer({.gpus = 1}, 8192, stack).forward.launch;
  stack.waits_for_kernels = 1;
  const LayerTime open = layer({.gpus = 1}, 8192, stack);
  EXPECT_GT(open.forward.launch, 100 * hidden);
  EXPECT_NEAR(open.backward.launch, 2 * open.forward.launch, 1e-12);
}

}  // namespace layer_time_test
}  // namespace mpitron::plan
