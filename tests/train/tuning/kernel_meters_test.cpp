#include "train/tuning/kernel_meters.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/tensors.h"
#include "tensor/tensor.h"

namespace mpitron::train {
namespace kernel_results_test {

TEST(KernelResults, NumbersAreThoseOfTheTensor) {
  const auto host = device::make_device("host");
  const tensor::Tensor x = tensor::Tensor::empty(*host, {2, 2}, DType::bf16);
  for (int i = 0; i < 4; ++i) {
    x.data<BFloat16>()[i] = BFloat16(0.5f * static_cast<float>(i));
  }
  EXPECT_EQ(numbers_of(*host, x), (std::vector<float>{0, 0.5, 1, 1.5}));
}

TEST(KernelResults, DifferencesCountAgainstTheLargestNumber) {
  EXPECT_EQ(difference_of({1, -4}, {1, -4}), 0);
  EXPECT_EQ(difference_of({2, -4}, {1, -4}), 0.25);
  EXPECT_EQ(difference_of({0, 0}, {0, 0}), 0);
  EXPECT_EQ(difference_of({1, NAN}, {1, 2}), INFINITY);
}

}  // namespace kernel_results_test
}  // namespace mpitron::train
