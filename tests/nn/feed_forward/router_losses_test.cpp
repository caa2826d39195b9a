#include "nn/feed_forward/router.h"
#include "nn/feed_forward/router_fixture.h"
#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace router_losses_test {

TEST_F(RouterTest, TellsLossesAndTokensOncePerRecordedPass) {
  moe().balancing_losses = {{config::RouterBalancing::aux_loss, 0.01},
                            {config::RouterBalancing::seq_aux_loss, 0.01}};
  moe().z_loss_coefficient = 0.1;
  Tape tape;
  Context cx = context(&tape);
  cx.recorder.auxiliary = {.microbatch_seed = 1, .sums = &sums_};
  const ops::ExpertVisits all = visits(cx);
  for (const char* name : {"load_balancing_loss", "seq_load_balancing_loss", "z_loss"}) {
    EXPECT_GT(sums_.of(name, 3)[2], 0) << name;
  }
  const std::vector<double> told = sums_.of("tokens_per_expert", 3, 4);
  EXPECT_TRUE(std::equal(all.counts.begin(), all.counts.end(), told.begin() + 8));

  sums_.clear();
  cx.recorder.tape = nullptr;  // the first pass of a recomputed layer
  visits(cx);
  cx.recorder.tape = &tape;
  cx.mode = autograd::Mode::evaluate;
  visits(cx);
  EXPECT_EQ(sums_.of("z_loss", 3)[2], 0);
}

/// The gradient of the router's weight is linear in the seed, and 0 without a coefficient.
TEST_F(RouterTest, LossesReachTheWeightByTheirSeed) {
  moe().balancing_losses = {{config::RouterBalancing::aux_loss, 0.5}};
  moe().z_loss_coefficient = 0.25;
  const auto gradient = [&](double seed) {
    parameters_ = {};
    const Router router(builder_, 3);
    initialize();
    Tape tape;
    Context cx = context(&tape);
    cx.recorder.auxiliary = {.microbatch_seed = seed, .sums = &sums_};
    const Var p = router.forward(cx, input()).probabilities;
    tape.backward(cx, p.slot,
                  test::make_tensor(*device_, p.shape(), DType::f32, std::vector<double>(20, 0)));
    return test::values_of(parameters_.find("weight")->sink.main_grad);
  };
  const std::vector<double> none = gradient(0), one = gradient(1), two = gradient(2);
  double largest = 0;
  for (std::size_t i = 0; i < none.size(); ++i) {
    EXPECT_EQ(none[i], 0);
    EXPECT_NEAR(two[i], 2 * one[i], 1e-7);
    largest = std::max(largest, std::abs(one[i]));
  }
  EXPECT_GT(largest, 1e-4);
}

}  // namespace router_losses_test

}  // namespace mpitron::nn
