#include "autograd/packed_weights.h"

#include <gtest/gtest.h>

#include "autograd/parameter_list.h"
#include "support/host_runtime.h"

namespace mpitron::autograd {
namespace packed_weights_test {

using kernels::WeightFormat;

/// A weight [3, 32] of rising numbers.
Parameter& rising_weight(device::Device& device, ParameterList& parameters) {
  Parameter& weight = parameters.add({.name = "weight", .shape = {3, 32}});
  weight.value = Tensor::empty(device, weight.shape, DType::f32);
  for (Index i = 0; i < 96; ++i) {
    weight.value.data<float>()[i] = static_cast<float>(i);
  }
  return weight;
}

TEST(PackedWeights, PackEachWeightOnce) {
  const auto device = device::make_device("host");
  ParameterList parameters;
  const Parameter& weight = rising_weight(*device, parameters);
  PackedWeights packed(*device, WeightFormat::int8);
  EXPECT_TRUE(packed.packs());
  EXPECT_EQ(packed.bytes(), 0);
  const void* const first = packed.of(weight).view().data;
  EXPECT_EQ(packed.of(weight).view().data, first);
  EXPECT_EQ(packed.bytes(), kernels::packed_bytes(WeightFormat::int8, 3, 32));
}

TEST(PackedWeights, MatricesOfHeadsAreMadeOnce) {
  const auto device = device::make_device("host");
  ParameterList parameters;
  const Parameter& weight = rising_weight(*device, parameters);
  PackedWeights packed(*device, WeightFormat::q4);
  int made = 0;
  const auto make = [&] {
    ++made;
    return weight.value.reshape({3, 1, 32});
  };
  const void* const first = packed.of_heads(weight, 0, make).view().data;
  EXPECT_EQ(packed.of_heads(weight, 0, make).view().data, first);
  EXPECT_NE(packed.of_heads(weight, 1, make).view().data, first);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(packed.bytes(), 2 * 3 * kernels::packed_bytes(WeightFormat::q4, 1, 32));
}

/// The value's memory is free again; its shape is still known.
TEST(PackedWeights, TakeThePlaceOfAValue) {
  const auto device = device::make_device("host");
  ParameterList parameters;
  Parameter& weight = rising_weight(*device, parameters);
  PackedWeights packed(*device, WeightFormat::int8);
  const Tensor value = weight.value;
  packed.take(weight);
  EXPECT_TRUE(value.unique());
  EXPECT_EQ(weight.value.view().data, nullptr);
  EXPECT_EQ(weight.local_shape(), Shape({3, 32}));
  EXPECT_EQ(weight.value.dtype(), DType::f32);
  EXPECT_EQ(packed.of(weight).view().bytes(), packed.bytes());
}

}  // namespace packed_weights_test
}  // namespace mpitron::autograd
