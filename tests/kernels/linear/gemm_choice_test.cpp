#include "kernels/linear/gemm_choice.h"

#include <gtest/gtest.h>

namespace mpitron::kernels {
namespace gemm_choice_test {

const GemmShape kShape = {.m = 3, .n = 4, .k = 5};

TEST(GemmChoice, PlansAreOutOfDateAfterEachChoice) {
  EXPECT_TRUE(gemm_algorithms().empty());
  const std::uint64_t before = gemm_choice();
  choose_gemm_algorithms({{kShape, GemmAlgorithm{.id = 7}}});
  EXPECT_EQ(gemm_choice(), before + 1);
  EXPECT_EQ(gemm_algorithms().at(kShape)->id, 7);
  choose_gemm_algorithms({});
  EXPECT_EQ(gemm_choice(), before + 2);
  EXPECT_TRUE(gemm_algorithms().empty());
}

TEST(GemmChoice, HowPointersAreAlignedBelongsToTheShape) {
  GemmShape other = kShape;
  EXPECT_EQ(other, kShape);
  other.b_alignment = 16;
  EXPECT_NE(other, kShape);
}

TEST(GemmChoice, SizesPassWhileAnyScopeSaysSo) {
  EXPECT_FALSE(PassingSizes::here());
  {
    const PassingSizes outer;
    { const PassingSizes inner; }
    EXPECT_TRUE(PassingSizes::here());
  }
  EXPECT_FALSE(PassingSizes::here());
}

}  // namespace gemm_choice_test
}  // namespace mpitron::kernels
