#include <gtest/gtest.h>

#include "support/far_device.h"
#include "tensor/host_copy.h"

namespace mpitron::tensor {
namespace host_mirror_test {

TEST(HostMirror, IsTheStateItselfWhereTheHostCanReachIt) {
  const auto device = device::make_device("reference");
  const Tensor x = Tensor::empty(*device, {3}, DType::f32);
  HostMirror mirror(*device);
  EXPECT_FALSE(mirror.independent());
  EXPECT_EQ(mirror.of({.name = "x", .shape = {3}, .value = x.view()}).value.data, x.view().data);
}

TEST(HostMirror, HasTheValuesAndBringsThemBack) {
  const auto device = test::make_far_device();
  const Tensor host = empty_on_host(*device, {3}, DType::f32);
  host.data<float>()[2] = 7;
  const Tensor x = to_device(*device, host);
  HostMirror mirror(*device);
  EXPECT_TRUE(mirror.independent());
  const ShardedTensor copy = mirror.of({.name = "x", .shape = {3}, .begin = 4, .value = x.view()});
  mirror.wait();
  EXPECT_EQ(copy.name, "x");
  EXPECT_EQ(copy.begin, 4);
  EXPECT_NE(copy.value.data, x.view().data);
  EXPECT_EQ(copy.value.as<float>()[2], 7);
  copy.value.as<float>()[2] = 8;
  EXPECT_EQ(to_host(*device, x).data<float>()[2], 7);
  mirror.write_back();
  EXPECT_EQ(to_host(*device, x).data<float>()[2], 8);
}

}  // namespace host_mirror_test
}  // namespace mpitron::tensor
