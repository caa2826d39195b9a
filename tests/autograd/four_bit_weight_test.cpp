#include "autograd/four_bit_weight.h"

#include <gtest/gtest.h>

#include "autograd/context.h"
#include "support/tensors.h"
#include "utils/error.h"

namespace mpitron::autograd {
namespace four_bit_weight_test {

Parameter kept_weight(device::Device& device, const Shape& shape) {
  Parameter weight{.name = "weight", .shape = shape};
  weight.value = test::random_tensor(device, shape, DType::f32, 3);
  weight.four_bits.emplace();
  return weight;
}

TEST(FourBitWeight, StandsInPlaceOfTheValue) {
  const auto device = device::make_device("host");
  Parameter weight = kept_weight(*device, {6, 128});
  const std::vector<double> before = test::values_of(weight.value);
  pack_kept_weight(*device, weight);
  EXPECT_FALSE(weight.value);
  EXPECT_EQ(weight.local_shape(), (Shape{6, 128}));
  EXPECT_EQ(weight.local_bytes(), 6 * (64 + 2 * 2));  // 4.25 bits a weight
  Context context{.device = *device};
  const std::vector<double> after = test::values_of(weight_numbers(context, weight));
  double error = 0, size = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    error += (after[i] - before[i]) * (after[i] - before[i]);
    size += before[i] * before[i];
  }
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 0.02 * size);
}

TEST(FourBitWeight, IsPackedAgainWithOtherNumbers) {
  const auto device = device::make_device("host");
  Parameter weight = kept_weight(*device, {2, 64});
  pack_kept_weight(*device, weight);
  open_kept_weight(*device, weight);
  const std::vector<double> same(2 * 64, 0.5);
  test::set_values(weight.value, same);
  pack_kept_weight(*device, weight);
  Context context{.device = *device};
  EXPECT_EQ(test::values_of(weight_numbers(context, weight)), same);
}

TEST(FourBitWeight, RowsOfBrokenGroupsAreRefused) {
  const auto device = device::make_device("host");
  Parameter weight = kept_weight(*device, {2, 96});
  EXPECT_THROW(pack_kept_weight(*device, weight), Error);
}

}  // namespace four_bit_weight_test
}  // namespace mpitron::autograd
