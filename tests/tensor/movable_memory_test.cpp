#include "tensor/movable_memory.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "support/far_device.h"

namespace mpitron::tensor {
namespace movable_memory_test {

TEST(MovableMemory, AllHandlesFollowTheElements) {
  const auto gpu = test::make_far_device();
  const Tensor whole = Tensor::empty(*gpu, {4, 8}, DType::f32), rows = whole.slice(0, 1, 3);
  std::fill_n(whole.data<float>(), 32, 7.f);
  MovableMemory memory(whole);
  EXPECT_TRUE(memory.holds(rows));
  const std::vector<std::byte> copy(static_cast<std::byte*>(memory.elements()),
                                    static_cast<std::byte*>(memory.elements()) + memory.bytes());
  memory.leave();
  EXPECT_THROW(whole.view(), InternalError);
  EXPECT_EQ(rows.shape(), (Shape{2, 8}));
  const Tensor other = Tensor::empty(*gpu, {4, 8}, DType::f32);  // takes the place
  memory.come_back();
  std::ranges::copy(copy, static_cast<std::byte*>(memory.elements()));
  EXPECT_NE(whole.view().data, other.view().data);
  EXPECT_EQ(rows.data<float>(), whole.data<float>() + 8);
  EXPECT_EQ(rows.reshape({16}).data<float>()[15], 7);
  memory.leave();
  memory.come_back();
  std::ranges::copy(copy, static_cast<std::byte*>(memory.elements()));
  EXPECT_EQ(rows.data<float>()[15], 7);
}

TEST(MovableMemory, WhatIsAwayMayEnd) {
  const auto gpu = test::make_far_device();
  {
    MovableMemory memory(Tensor::empty(*gpu, {100}, DType::f32));
    memory.leave();
  }
  EXPECT_EQ(gpu->allocator().statistics().bytes_in_use, 0);
}

}  // namespace movable_memory_test
}  // namespace mpitron::tensor
