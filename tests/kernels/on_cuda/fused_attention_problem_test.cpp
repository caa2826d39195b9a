// How attentions are told to cuDNN, by where their tensors lie.
#include "kernels/cuda/attention/fused_attention_problem.h"

#include <gtest/gtest.h>

#include "device/cuda/cuda_device.h"

namespace mpitron::kernels::cuda::attention {
namespace fused_attention_problem_test {

using device::ConstTensorView;
using device::TensorView;

alignas(16) char place[16];

/// s 6, b 3, of 2 groups of r heads of 8 numbers; queries as `q` lies, all else dense.
AttentionForward forward(const ConstTensorView& q, Index r) {
  AttentionForward kernel;
  kernel.q = q;
  kernel.k = kernel.v = ConstTensorView(place, DType::bf16, {6, 3, 2, 8});
  kernel.o = TensorView(place, DType::bf16, {6, 3, 2, r, 8});
  kernel.lse = TensorView(place, DType::f32, {3, 2 * r, 6});
  return kernel;
}

TEST(FusedAttentionProblem, HeadsThatAreEvenlySpacedStayHeads) {
  const auto problem =
      problem_of(device::CudaStream{}, forward({place, DType::bf16, {6, 3, 2, 4, 8}}, 4));
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->b, 3);
  EXPECT_EQ(problem->n, 8);
  EXPECT_EQ(problem->g, 2);
  EXPECT_EQ(problem->q, (FusedHeads{64, 8, 192}));
  EXPECT_EQ(problem->lse, (FusedHeads{48, 6, 1}));
}

/// Of a fused qkv, in which a group's queries are followed by its key and value.
TEST(FusedAttentionProblem, GroupsThatLieApartAreSamplesOfTheirOwn) {
  const ConstTensorView q(place, DType::bf16, {6, 3, 2, 4, 8}, {288, 96, 48, 8, 1});
  AttentionForward kernel = forward(q, 4);
  const auto problem = problem_of(device::CudaStream{}, kernel);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->b, 6);
  EXPECT_EQ(problem->n, 4);
  EXPECT_EQ(problem->g, 1);
  EXPECT_EQ(problem->q, (FusedHeads{48, 8, 288}));
  kernel.mask = ConstTensorView(place, DType::u8, {3, 1, 6});
  EXPECT_FALSE(problem_of(device::CudaStream{}, kernel)) << "a mask for each sample";
  kernel.mask = ConstTensorView(place, DType::u8, {1, 1, 6});
  EXPECT_TRUE(problem_of(device::CudaStream{}, kernel));
}

TEST(FusedAttentionProblem, AddressesAreAlignedToLoadsOfSixteenBytes) {
  const ConstTensorView q(place, DType::bf16, {6, 3, 2, 4, 8});
  AttentionForward kernel = forward(q, 4);
  kernel.q.data = place + 2;
  EXPECT_FALSE(problem_of(device::CudaStream{}, kernel));
}

}  // namespace fused_attention_problem_test
}  // namespace mpitron::kernels::cuda::attention
