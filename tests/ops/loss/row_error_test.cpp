#include "ops/loss/row_error.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/tensors.h"

namespace mpitron::ops {
namespace row_error_test {

TEST(RowError, TheTapeGivesTheGradientOfTheSquares) {
  const auto device = device::make_device("reference");
  autograd::Tape tape;
  Context context{.device = *device, .recorder = {.tape = &tape}};
  const Var x = autograd::variable(test::make_tensor(*device, {1, 2, 2}, DType::f32, {1, 2, 3, 4}));
  const tensor::Tensor target = test::make_tensor(*device, {1, 2, 2}, DType::f32, {0, 0, 3, 1});
  const Var error = row_error(context, x, target, 0.5);
  EXPECT_EQ(test::values_of(error.value), (std::vector<double>{2.5, 4.5}));
  tape.backward(context, error.slot, test::make_tensor(*device, {1, 2}, DType::f32, {1, 2}));
  EXPECT_EQ(test::values_of(x.slot.gradient()), (std::vector<double>{1, 2, 0, 6}));
}

TEST(RowError, TheFirstOfTheLargestLogitsCounts) {
  const auto host = device::make_device("reference");
  autograd::Context context{.device = *host};
  const tensor::Tensor logits = context.empty({1, 3, 2}, DType::f32);
  const tensor::Tensor labels = context.empty({1, 3}, DType::i64);
  const float values[] = {1, 1, 0, 2, 5, 4};
  std::copy(std::begin(values), std::end(values), logits.data<float>());
  std::fill_n(labels.data<std::int64_t>(), 3, 1);
  labels.data<std::int64_t>()[0] = 0;
  const tensor::Tensor matches = label_matches(context, logits, labels);
  EXPECT_EQ(matches.data<float>()[0], 1);
  EXPECT_EQ(matches.data<float>()[1], 1);
  EXPECT_EQ(matches.data<float>()[2], 0);
}

}  // namespace row_error_test
}  // namespace mpitron::ops
