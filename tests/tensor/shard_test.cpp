#include "tensor/shard.h"

#include <numeric>

#include <gtest/gtest.h>

namespace mpitron::tensor {
namespace shard_test {

using Ranges = std::vector<Shard::Range>;

TEST(Shard, WithoutRangesIsTheWholeTensor) {
  const Shard shard;
  EXPECT_TRUE(shard.whole());
  EXPECT_EQ(shard.local({3, 4}), (Shape{3, 4}));
  EXPECT_EQ(shard.global(2), 2);
}

TEST(Shard, EvenPiecesOfBlocks) {
  EXPECT_EQ(even_shard(0, 8, {1, 2}).ranges, (Ranges{{4, 8}}));
  // A gated layer: [gate; up], of both of which each rank has a piece.
  EXPECT_EQ(even_shard(0, 8, {1, 2}, 2).ranges, (Ranges{{2, 4}, {6, 8}}));
  EXPECT_TRUE(even_shard(0, 8, {0, 1}, 2).whole());
  EXPECT_THROW(even_shard(0, 7, {0, 2}), InternalError);
}

TEST(Shard, LocalShapeAndGlobalPlace) {
  const Shard shard{.dim = 1, .ranges = {{2, 4}, {7, 8}}};
  EXPECT_EQ(shard.local({5, 9}), (Shape{5, 3}));
  EXPECT_EQ(shard.global(0), 2);
  EXPECT_EQ(shard.global(1), 3);
  EXPECT_EQ(shard.global(2), 7);
  EXPECT_THROW(shard.local({5, 7}), InternalError);  // beyond the end
}

class TakenShard : public ::testing::Test {
 protected:
  /// Elements 0, 1, 2, ...
  Tensor counted(const Shape& shape) {
    const Tensor x = Tensor::empty(*device_, shape, DType::f32);
    std::iota(x.data<float>(), x.data<float>() + x.numel(), 0.f);
    return x;
  }
  std::vector<float> taken(const Shape& shape, const Shard& shard) {
    const Tensor local = Tensor::empty(*device_, shard.local(shape), DType::f32);
    take_shard(counted(shape), shard, local);
    return {local.data<float>(), local.data<float>() + local.numel()};
  }
  std::unique_ptr<device::Device> device_ = device::make_device("reference");
};

TEST_F(TakenShard, RowsColumnsAndTheMiddle) {
  EXPECT_EQ(taken({2, 2}, {}), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(taken({4}, {.dim = 0, .ranges = {{3, 4}, {1, 2}}}), (std::vector<float>{3, 1}));
  EXPECT_EQ(taken({3, 2}, {.dim = 0, .ranges = {{0, 1}, {2, 3}}}),
            (std::vector<float>{0, 1, 4, 5}));
  EXPECT_EQ(taken({2, 4}, {.dim = 1, .ranges = {{1, 2}, {3, 4}}}),
            (std::vector<float>{1, 3, 5, 7}));
  EXPECT_EQ(taken({2, 2, 2}, {.dim = 1, .ranges = {{1, 2}}}), (std::vector<float>{2, 3, 6, 7}));
}

}  // namespace shard_test
}  // namespace mpitron::tensor
