#include "ops/state_space/selective_scan.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace selective_scan_test {

using SelectiveScanTest = GradientCheck;

/// Four heads of two columns in two groups, states of three rows, chunks of three positions.
TEST_F(SelectiveScanTest, BackwardIsTheGradient) {
  const ScanSettings settings{.a_log = &parameter({4}),
                              .d = &parameter({4}),
                              .dt_bias = &parameter({4}),
                              .groups = 2,
                              .state_dim = 3,
                              .chunk = 3};
  expect_gradients({random({7, 2, 20}), random({7, 2, 4})},
                   [&](Context& context, const std::vector<Var>& x) {
                     return selective_scan(context, x[0], x[1], settings);
                   });
}

}  // namespace selective_scan_test
}  // namespace mpitron::ops
