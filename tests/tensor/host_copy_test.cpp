#include "tensor/host_copy.h"

#include <numeric>

#include <gtest/gtest.h>

#include "support/far_device.h"

namespace mpitron::tensor {
namespace host_copy_test {

Tensor counting(device::Device& device, Index n) {
  const Tensor x = empty_on_host(device, {n}, DType::f32);
  std::iota(x.data<float>(), x.data<float>() + n, 0.f);
  return x;
}

TEST(HostCopy, IsTheTensorItselfWhereTheHostCanReachIt) {
  const auto device = device::make_device("reference");
  const Tensor host = counting(*device, 5);
  const Tensor x = to_device(*device, host);
  EXPECT_EQ(x.view().data, host.view().data);
  EXPECT_EQ(to_host(*device, x).view().data, host.view().data);
}

TEST(HostCopy, TakesValuesThereAndBack) {
  const auto device = test::make_far_device();
  const Tensor host = counting(*device, 5);
  const Tensor x = to_device(*device, host);
  EXPECT_NE(x.view().data, host.view().data);
  const std::vector<Tensor> parts = {x.slice(0, 0, 2), x.slice(0, 2, 5)};
  const std::vector<Tensor> back = to_host(*device, parts);
  ASSERT_EQ(back.size(), 2u);
  EXPECT_NE(back[1].view().data, parts[1].view().data);
  EXPECT_EQ(back[0].data<float>()[1], 1);
  EXPECT_EQ(back[1].data<float>()[2], 4);
}

TEST(HostCopy, CopiesOnlyWhatIsOfOneSize) {
  const auto device = test::make_far_device();
  const Tensor x = counting(*device, 4);
  EXPECT_ANY_THROW(copy_bytes(*device, x, counting(*device, 5)));
  const Tensor matrix = x.reshape({2, 2});
  EXPECT_ANY_THROW(copy_bytes(*device, matrix.slice(1, 0, 1), counting(*device, 2)));
}

/// Elements and what the host notes on them are given back where they came from.
TEST(HostCopy, FarTensorsLeaveNothingBehind) {
  const auto device = test::make_far_device();
  const auto in_use = [&] {
    return device->allocator().statistics().bytes_in_use +
           device->allocator().notes()->statistics().bytes_in_use;
  };
  {
    const Tensor x = to_device(*device, counting(*device, 300));
    const Tensor part = x.slice(0, 100, 200);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.view().data) % 512, 0u);
    EXPECT_GE(in_use(), 1200 + 64);
  }
  EXPECT_EQ(in_use(), 0);
  EXPECT_EQ(device->staging().statistics().bytes_in_use, 0);
}

}  // namespace host_copy_test
}  // namespace mpitron::tensor
