#include "train/step/moving_averages.h"

#include <gtest/gtest.h>

#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::train {
namespace moving_averages_test {

class MovingAveragesTest : public ::testing::TestWithParam<DType> {
 protected:
  MovingAveragesTest() {
    student_.value = test::make_tensor(*device_, {2}, GetParam(), {1, 2});
    teacher_.value = test::make_tensor(*device_, {2}, GetParam(), {7, 7});
    teacher_.shape = {2};
    teacher_.role.average_of = &student_;
  }
  std::unique_ptr<device::Device> device_ = device::make_device("host");
  autograd::ParameterList parameters_;
  autograd::Parameter& student_ = parameters_.add({});
  autograd::Parameter& teacher_ = parameters_.add({});
};

TEST_P(MovingAveragesTest, StartAsCopiesAndFollow) {
  MovingAverages averages(*device_, parameters_);
  EXPECT_EQ(test::values_of(teacher_.value), (std::vector<double>{1, 2}));
  test::set_values(student_.value, {3, 2});
  averages.update(0.5);
  EXPECT_EQ(test::values_of(teacher_.value), (std::vector<double>{2, 2}));
}

/// Of 8 bits a step of 1 / 1000 would be lost.
TEST_P(MovingAveragesTest, SmallStepsAddUp) {
  MovingAverages averages(*device_, parameters_);
  test::set_values(student_.value, {2, 2});
  for (int i = 0; i < 1000; ++i) {
    averages.update(0.999);
  }
  EXPECT_NEAR(test::values_of(teacher_.value)[0], 2 - std::pow(0.999, 1000), 0.01);
}

INSTANTIATE_TEST_SUITE_P(Types, MovingAveragesTest, ::testing::Values(DType::f32, DType::bf16));

}  // namespace moving_averages_test
}  // namespace mpitron::train
