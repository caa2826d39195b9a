#include "tensor/tensors_made.h"

#include <gtest/gtest.h>

#include "support/far_device.h"

namespace mpitron::tensor {
namespace tensors_made_test {

std::vector<Index> sizes(const TensorsMade& made) {
  std::vector<Index> sizes;
  for (const Tensor& tensor : made.alive()) {
    sizes.push_back(tensor.numel());
  }
  return sizes;
}

TEST(TensorsMade, KnowsThoseThatSomebodyStillHas) {
  const auto gpu = test::make_far_device();
  const Tensor before = Tensor::empty(*gpu, {512}, DType::u8);
  const TensorsMade made(gpu->allocator());
  const Tensor first = Tensor::empty(*gpu, {1024}, DType::u8);
  { const Tensor gone = Tensor::empty(*gpu, {2048}, DType::u8); }
  const Tensor on_host = Tensor::empty(gpu->staging(), {256}, DType::u8);
  Tensor last = Tensor::empty(*gpu, {16}, DType::f32), again = last;
  EXPECT_EQ(sizes(made), (std::vector<Index>{512, 1024}));
  last = {};
  EXPECT_EQ(sizes(made), (std::vector<Index>{512, 1024}));
  again = {};
  EXPECT_EQ(sizes(made), std::vector<Index>{1024});
}

TEST(TensorsMade, OneHidesAnotherWhileItLives) {
  const auto gpu = test::make_far_device();
  const TensorsMade outer(gpu->allocator());
  Tensor hidden;
  {
    const TensorsMade inner(gpu->allocator());
    hidden = Tensor::empty(*gpu, {512}, DType::u8);
    EXPECT_EQ(sizes(inner).size(), 1U);
  }
  const Tensor seen = Tensor::empty(*gpu, {1024}, DType::u8);
  EXPECT_EQ(sizes(outer), std::vector<Index>{1024});
}

}  // namespace tensors_made_test
}  // namespace mpitron::tensor
