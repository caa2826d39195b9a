#include "convert/formats/expert_pieces.h"

#include <gtest/gtest.h>

namespace mpitron::convert {
namespace expert_pieces_test {

/// Of two experts with h = 2 and f = 2, the other half of the second one.
TEST(ExpertPieces, APartIsCopiedBothWays) {
  std::vector<float> stack(16), part(4), again(16, -1.f);
  for (std::size_t i = 0; i < stack.size(); ++i) {
    stack[i] = static_cast<float>(i);
  }
  ExpertPiece piece{
      .stack = &kExpertStacks[0], .expert = 1, .part = 1, .info = {"x", {2, 2}, DType::f32}};
  const auto bytes = [](std::vector<float>& values) {
    return reinterpret_cast<std::byte*>(values.data());
  };
  copy_expert_part<false>(piece, bytes(stack), bytes(part));
  EXPECT_EQ(part, (std::vector<float>{9, 13, 11, 15}));
  copy_expert_part<true>(piece, bytes(again), bytes(part));
  EXPECT_EQ(again[9], 9);
  EXPECT_EQ(again[8], -1);
  piece.order = GateColumns::halves;
  copy_expert_part<false>(piece, bytes(stack), bytes(part));
  EXPECT_EQ(part, (std::vector<float>{10, 14, 11, 15}));
}

}  // namespace expert_pieces_test
}  // namespace mpitron::convert
