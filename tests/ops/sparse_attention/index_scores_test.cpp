#include "ops/sparse_attention/index_scores.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace index_scores_op_test {

using IndexScoresTest = GradientCheck;

TEST_F(IndexScoresTest, BackwardIsTheGradient) {
  expect_gradients({random({5, 2, 3 * 4}), random({5, 2, 2})},
                   [](Context& context, const std::vector<Var>& x) {
                     return index_scores(context, x[0], x[1], 0.7);
                   });
}

/// The choice leaves no more than topk of the keys that the mask leaves.
TEST_F(IndexScoresTest, TheChoiceHasTopkKeysOfThoseThatAreVisible) {
  Context cx = context();
  const Tensor scores = random({1, 4, 4});
  const Tensor mask = test::make_mask(*device_, {1, 1, 4}, {1, 0, 0, 0});
  const std::vector<double> hidden = test::values_of(unchosen_keys(cx, scores, mask, 2));
  for (std::size_t i = 0; i < 4; ++i) {
    const auto row = hidden.begin() + static_cast<std::ptrdiff_t>(4 * i);
    EXPECT_EQ(row[0], 1);
    EXPECT_EQ(std::count(row, row + 4, 0.0), std::min<std::ptrdiff_t>(static_cast<int>(i), 2));
  }
}

}  // namespace index_scores_op_test
}  // namespace mpitron::ops
