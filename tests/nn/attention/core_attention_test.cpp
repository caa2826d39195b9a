#include "nn/attention/core_attention.h"

#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace core_attention_test {

class CoreAttentionTest : public LayerTest {
 protected:
  static constexpr ops::QkvLayout kLayout{
      .heads = 4, .query_groups = 4, .head_dim = 3, .value_dim = 2};

  std::vector<double> output(const Builder& builder, Index layer_number = 1) {
    const CoreAttention core(builder, layer_number, kLayout, 0.5);
    Context cx = context();
    const Var qkv =
        autograd::variable(test::random_tensor(*device_, {5, 2, kLayout.width()}, DType::f32, 3));
    const Var y = core.forward(cx, qkv, {});
    EXPECT_EQ(y.shape(), (Shape{5, 2, 4 * 2}));
    return test::values_of(y.value);
  }
};

TEST_F(CoreAttentionTest, AWindowHidesEarlierPositions) {
  const std::vector<double> full = output(builder_);
  config_.window_size = {{1, 0}};
  EXPECT_NE(output(builder_), full);
  config_.window_size = {{4, 0}};
  EXPECT_EQ(output(builder_), full);
}

TEST_F(CoreAttentionTest, EachLayerDrawsItsOwnDropout) {
  const std::vector<double> plain = output(builder_);
  config_.attention_dropout = 0.5;
  const std::vector<double> first = output(builder_, 1);
  EXPECT_NE(first, plain);
  EXPECT_EQ(output(builder_, 1), first);
  EXPECT_NE(output(builder_, 2), first);
}

}  // namespace core_attention_test
}  // namespace mpitron::nn
