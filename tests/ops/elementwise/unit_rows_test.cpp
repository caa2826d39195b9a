#include "ops/elementwise/unit_rows.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace unit_rows_test {

class UnitRowsTest : public GradientCheck {};

TEST_F(UnitRowsTest, BackwardIsTheGradient) {
  expect_gradients({random({2, 3, 5})}, [](Context& context, const std::vector<Var>& x) {
    return unit_rows(context, x[0]);
  });
}

}  // namespace unit_rows_test
}  // namespace mpitron::ops
