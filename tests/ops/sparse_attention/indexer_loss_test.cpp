#include "ops/sparse_attention/indexer_loss.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace indexer_loss_op_test {

constexpr QkvLayout kLayout{.heads = 2, .query_groups = 2, .head_dim = 3, .value_dim = 2};

class IndexerLossTest : public GradientCheck {
 protected:
  ForetoldAttention attention(const Tensor& mask) {
    return {.qkv = test::random_tensor(*device_, {4, 2, kLayout.width()}, DType::f64, 77),
            .layout = kLayout,
            .scale = 2,
            .mask = mask};
  }
};

TEST_F(IndexerLossTest, BackwardIsTheGradient) {
  const Tensor mask =
      test::make_mask(*device_, {1, 4, 4}, {0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0});
  for (const Tensor& hidden : {Tensor(), mask}) {
    expect_gradients({random({2, 4, 4})}, [&](Context& context, const std::vector<Var>& x) {
      return indexer_loss(context, x[0], attention(hidden));
    });
  }
}

}  // namespace indexer_loss_op_test
}  // namespace mpitron::ops
