#include "tensor/host_fill.h"

#include <numeric>

#include <gtest/gtest.h>

#include "support/far_device.h"
#include "tensor/host_copy.h"

namespace mpitron::tensor {
namespace host_fill_test {

/// Counts from 1 into what it is given, and notes where that lies.
Tensor filled(device::Device& device, const void*& written_at) {
  const Tensor x = Tensor::empty(device, {5}, DType::f32);
  fill(device, x, [&](const TensorView& to) {
    written_at = to.data;
    std::iota(static_cast<float*>(to.data), static_cast<float*>(to.data) + 5, 1.f);
  });
  return x;
}

TEST(HostFill, WritesToTheTensorItselfWhereTheHostCan) {
  const auto device = device::make_device("reference");
  const void* written_at = nullptr;
  const Tensor x = filled(*device, written_at);
  EXPECT_EQ(written_at, x.view().data);
  EXPECT_EQ(x.data<float>()[4], 5);
}

TEST(HostFill, OneBlockOfHostMemoryServesManyTensors) {
  const auto device = test::make_far_device();
  const void *first_at = nullptr, *second_at = nullptr;
  const Tensor first = filled(*device, first_at), second = filled(*device, second_at);
  EXPECT_NE(first_at, first.view().data);
  EXPECT_EQ(first_at, second_at);
  EXPECT_EQ(to_host(*device, first).data<float>()[4], 5);
  EXPECT_EQ(device->staging().statistics().bytes_in_use, 0);
}

}  // namespace host_fill_test
}  // namespace mpitron::tensor
