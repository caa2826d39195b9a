#include "autograd/shard_copy.h"

#include <gtest/gtest.h>

#include "support/tensors.h"

namespace mpitron::autograd {
namespace shard_copy_test {

using tensor::Shard;
using tensor::Tensor;

TEST(ShardCopy, ThereAndBackByRanksThatShareATensor) {
  const auto device = device::make_device("reference");
  const Tensor global = test::random_tensor(*device, {6, 4}, DType::f32, 1);
  for (const int dim : {0, 1}) {
    const Tensor copy = test::make_tensor(*device, {6, 4}, DType::f32, std::vector<double>(24, 9));
    for (Index rank = 0; rank < 2; ++rank) {
      const Shard shard = tensor::even_shard(dim, global.shape()[dim], {rank, 2}, dim == 0 ? 3 : 2);
      const Tensor local = Tensor::empty(*device, shard.local(global.shape()), DType::f32);
      copy_to_shard(*device, global, shard, local);
      const Tensor taken = Tensor::empty(*device, local.shape(), DType::f32);
      tensor::take_shard(global, shard, taken);
      EXPECT_EQ(test::values_of(local), test::values_of(taken));
      copy_from_shard(*device, local, shard, copy);
    }
    EXPECT_EQ(test::values_of(copy), test::values_of(global));
  }
}

TEST(ShardCopy, ConvertsTypes) {
  const auto device = device::make_device("reference");
  const Tensor global = test::make_tensor(*device, {2}, DType::f32, {1, 1 + 0x1p-20});
  const Tensor local = Tensor::empty(*device, {1}, DType::bf16);
  copy_to_shard(*device, global, {.dim = 0, .ranges = {{1, 2}}}, local);
  EXPECT_EQ(test::values_of(local), (std::vector<double>{1}));
}

}  // namespace shard_copy_test
}  // namespace mpitron::autograd
