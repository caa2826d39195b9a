#pragma once

#include "nn/feed_forward/router.h"
#include "nn/layer_fixture.h"

// A router of a few tokens.

namespace mpitron::nn {

class RouterTest : public LayerTest {
 protected:
  RouterTest() { config_.moe = config::MoeConfig{.num_experts = 4, .layers = {true}}; }

  config::MoeConfig& moe() { return *config_.moe; }
  /// One pass of a router with fresh parameters.
  ops::ExpertVisits visits(Context cx) {
    parameters_ = {};
    const Router router(builder_, 3);
    initialize();
    return router.forward(cx, input());
  }
  ops::ExpertVisits visits() { return visits(context()); }
  autograd::LayerSums sums_;
};

}  // namespace mpitron::nn
