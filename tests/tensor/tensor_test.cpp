#include "tensor/tensor.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace mpitron::tensor {
namespace tensor_test {

class TensorTest : public ::testing::Test {
 protected:
  Index in_use() const { return device_->allocator().statistics().bytes_in_use; }
  std::unique_ptr<device::Device> device_ = device::make_device("reference");
};

TEST_F(TensorTest, IsContiguousAndAligned) {
  const Tensor x = Tensor::empty(*device_, {3, 5}, DType::bf16);
  EXPECT_EQ(x.shape(), (Shape{3, 5}));
  EXPECT_EQ(x.dtype(), DType::bf16);
  EXPECT_TRUE(x.view().contiguous());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.view().data) % 64, 0u);
}

TEST_F(TensorTest, ADefaultTensorIsAbsent) {
  const Tensor absent;
  EXPECT_FALSE(absent);
  EXPECT_FALSE(absent.unique());
  EXPECT_FALSE(absent.view());
}

TEST_F(TensorTest, CopiesShareMemoryAndTheLastOneGivesItBack) {
  Tensor x = Tensor::empty(*device_, {1000}, DType::f32);
  const Index used = in_use();
  EXPECT_GT(used, 4000);
  EXPECT_TRUE(x.unique());
  {
    const Tensor copy = x;
    EXPECT_EQ(copy.view().data, x.view().data);
    EXPECT_FALSE(x.unique());
    EXPECT_EQ(in_use(), used);
    x = {};
    EXPECT_TRUE(copy.unique());
    EXPECT_EQ(in_use(), used);
  }
  EXPECT_EQ(in_use(), 0);
}

TEST_F(TensorTest, MovingLeavesNothingBehind) {
  Tensor x = Tensor::empty(*device_, {8}, DType::f32);
  const void* memory = x.view().data;
  const Tensor moved = std::move(x);
  EXPECT_FALSE(x);  // NOLINT(bugprone-use-after-move): what is tested
  EXPECT_TRUE(moved.unique());
  EXPECT_EQ(moved.view().data, memory);
}

TEST_F(TensorTest, AssigningToItselfKeepsTheMemory) {
  Tensor x = Tensor::empty(*device_, {8}, DType::f32);
  const Tensor& same = x;
  x = same;
  EXPECT_TRUE(x.unique());
  EXPECT_GT(in_use(), 0);
}

TEST_F(TensorTest, SlicesAndReshapesKeepTheWholeAlive) {
  Tensor part;
  {
    const Tensor x = Tensor::empty(*device_, {4, 6}, DType::f32);
    for (Index i = 0; i < 24; ++i) {
      x.data<float>()[i] = static_cast<float>(i);
    }
    part = x.reshape({2, 12}).slice(0, 1, 2);
    EXPECT_FALSE(x.unique());
  }
  EXPECT_TRUE(part.unique());
  EXPECT_EQ(part.shape(), (Shape{1, 12}));
  EXPECT_EQ(part.data<float>()[0], 12);
  part = {};
  EXPECT_EQ(in_use(), 0);
}

}  // namespace tensor_test
}  // namespace mpitron::tensor
