#include "kernels/attention/attention_choice.h"

#include <gtest/gtest.h>

namespace mpitron::kernels {
namespace attention_choice_test {

using device::TensorView;

TEST(AttentionChoice, AShapeIsWhatTheTimeDependsOn) {
  char place = 0;
  AttentionForward kernel;
  kernel.q = TensorView(&place, DType::bf16, {32, 2, 3, 4, 64});  // heads of a fused qkv
  kernel.k = TensorView(&place, DType::bf16, {48, 2, 3, 64});
  kernel.v = TensorView(&place, DType::bf16, {48, 2, 3, 40});
  kernel.window = 5;
  const AttentionShape shape = shape_of(kernel);
  EXPECT_EQ(shape, (AttentionShape{false, DType::bf16, 32, 48, 2, 12, 3, 64, 40, true, 5,
                                   AttentionMask::none, false, false}));
  kernel.scale = 0.5f;
  EXPECT_EQ(shape_of(kernel), shape) << "a factor costs nothing";
  kernel.dropout.threshold = 1;
  EXPECT_NE(shape_of(kernel), shape);
}

TEST(AttentionChoice, PaddingAndDocumentsAreDifferentMasks) {
  char place = 0;
  AttentionForward kernel;
  kernel.q = kernel.v = TensorView(&place, DType::bf16, {32, 2, 4, 64});
  kernel.mask = TensorView(&place, DType::u8, {2, 1, 32});
  EXPECT_EQ(shape_of(kernel).mask, AttentionMask::keys);
  kernel.mask = TensorView(&place, DType::u8, {2, 32, 32});
  EXPECT_EQ(shape_of(kernel).mask, AttentionMask::pairs);
}

TEST(AttentionChoice, ForwardAndBackwardAreChosenApart) {
  char place = 0;
  AttentionForward forward;
  AttentionBackward backward;
  forward.q = backward.q = TensorView(&place, DType::bf16, {32, 2, 4, 64});
  forward.v = backward.v = forward.q;
  EXPECT_NE(shape_of(forward), shape_of(backward));
}

TEST(AttentionChoice, OursRunsWhereNobodyHasChosen) {
  EXPECT_EQ(attention_choices().order, (std::vector{AttentionKernel::wgmma, AttentionKernel::mma}));
  EXPECT_TRUE(attention_choices().by_shape.empty());
}

}  // namespace attention_choice_test
}  // namespace mpitron::kernels
