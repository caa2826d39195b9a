#include "tensor/shape_alone.h"

#include <gtest/gtest.h>

#include "support/host_runtime.h"

namespace mpitron::tensor {
namespace shape_alone_test {

TEST(ShapeAlone, HasNoMemory) {
  const auto device = device::make_device("host");
  const auto in_use = [&] { return device->allocator().statistics().bytes_in_use; };
  const Index before = in_use();
  Tensor x = Tensor::empty(*device, {1000, 1000}, DType::bf16);
  EXPECT_GT(in_use(), before);
  x = shape_alone(x);
  EXPECT_EQ(in_use(), before);
  EXPECT_TRUE(x);
  EXPECT_EQ(x.shape(), Shape({1000, 1000}));
  EXPECT_EQ(x.dtype(), DType::bf16);
  EXPECT_EQ(x.view().data, nullptr);
  const Tensor copy = x;
  EXPECT_EQ(copy.numel(), 1000000);
}

}  // namespace shape_alone_test
}  // namespace mpitron::tensor
