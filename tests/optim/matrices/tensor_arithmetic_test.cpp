#include "optim/matrices/tensor_arithmetic.h"

#include <gtest/gtest.h>

#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::optim {
namespace tensor_arithmetic_test {

using Values = std::vector<double>;

TEST(TensorArithmetic, WorksElementByElement) {
  const auto device = device::make_device("reference");
  const tensor::Tensor x = test::make_tensor(*device, {2, 2}, DType::f32, {1, -2, 3, 4});
  const tensor::Tensor twice = scaled(*device, x, 2);
  EXPECT_EQ(test::values_of(twice), (Values{2, -4, 6, 8}));
  add(*device, twice, x);
  EXPECT_EQ(test::values_of(twice), (Values{3, -6, 9, 12}));
  EXPECT_EQ(test::values_of(x), (Values{1, -2, 3, 4}));
  EXPECT_EQ(converted(*device, x, DType::bf16).dtype(), DType::bf16);
}

TEST(TensorArithmetic, TheNormIsOfAllElements) {
  const auto device = device::make_device("reference");
  EXPECT_EQ(norm(*device, test::make_tensor(*device, {2, 2}, DType::f32, {1, -1, 1, 1})), 2);
}

}  // namespace tensor_arithmetic_test
}  // namespace mpitron::optim
