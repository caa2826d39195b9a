#include "ops/parallel/select_rows.h"

#include <gtest/gtest.h>

#include "support/tensors.h"

namespace mpitron::ops {
namespace select_rows_test {

TEST(SelectRows, MovesRowsThereAndGradientsBack) {
  const auto device = device::make_device("reference");
  autograd::Tape tape;
  Context context{.device = *device, .recorder = {.tape = &tape}};
  const Var x =
      autograd::variable(test::make_tensor(*device, {3, 2}, DType::f32, {1, 2, 3, 4, 5, 6}));
  const RowChoice choice{test::make_ids(*device, {4}, {2, -1, 0, -1}),
                         test::make_ids(*device, {3}, {2, -1, 0})};
  const Var y = select_rows(context, x, choice);
  EXPECT_EQ(test::values_of(y.value), (std::vector<double>{5, 6, 0, 0, 1, 2, 0, 0}));
  tape.backward(context, y.slot,
                test::make_tensor(*device, {4, 2}, DType::f32, {1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(test::values_of(x.slot.gradient()), (std::vector<double>{5, 6, 0, 0, 1, 2}));
}

}  // namespace select_rows_test
}  // namespace mpitron::ops
