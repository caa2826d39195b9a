#include "ops/elementwise/mean_rows.h"

#include "tests/ops/gradient_check.h"

namespace mpitron::ops {
namespace mean_rows_test {

/// Three groups of two rows each; row 2 is in none.
PooledRows groups_on(device::Device& device) {
  return {test::make_ids(device, {2, 3}, {6, 0, 3, 1, 5, 4}),
          test::make_ids(device, {7}, {1, 0, -1, 2, 2, 1, 0})};
}

using MeanRowsGradients = GradientCheck;

TEST_F(MeanRowsGradients, AreThoseOfTheFormula) {
  const PooledRows groups = groups_on(*device_);
  expect_gradients({random({7, 5})}, [&](Context& context, const std::vector<Var>& x) {
    return mean_rows(context, x[0], groups);
  });
}

TEST(MeanRows, AreThoseOfEveryGroup) {
  for (const char* name : {"reference", "host"}) {
    const auto device = device::make_device(name);
    for (const DType type : {DType::f32, DType::bf16}) {
      Context context{.device = *device};
      const Var x = autograd::constant(test::make_tensor(
          *device, {7, 2}, type, {0, 1, 2, 3, 50, 60, 6, 7, 8, 9, 10, 11, 12, 14}));
      const Var y = mean_rows(context, x, groups_on(*device));
      EXPECT_EQ(test::values_of(y.value), (std::vector<double>{7, 8.5, 5, 6, 7, 8}));
      EXPECT_EQ(y.value.dtype(), type);
    }
  }
}

}  // namespace mean_rows_test
}  // namespace mpitron::ops
