#include "nn/attention/relative_position_bias.h"

#include "nn/layer_fixture.h"
#include "support/golden_tables.h"

namespace mpitron::nn {
namespace relative_position_bias_test {

TEST(RelativeBuckets, AreTheReferences) {
  for (const auto& row : test::golden_table("relative_buckets")) {
    const RelativeBuckets bucket{row["num_buckets"], row["max_distance"], row["bidirectional"]};
    Index distance = -300;
    for (const Index expected : row["bucket"]) {
      EXPECT_EQ(bucket(distance), expected) << distance;
      ++distance;
    }
    EXPECT_EQ(distance, 301);
  }
}

class RelativePositionBiasTest : public LayerTest {};

TEST_F(RelativePositionBiasTest, HasARowOfItsTableForEveryDistance) {
  config_.relative_attention_num_buckets = 8;
  config_.relative_attention_max_distance = 6;
  const RelativePositionBias bias(builder_, *device_, 5, true);
  initialize();
  Context cx = context();
  const Var y = bias.forward(cx);
  ASSERT_EQ(y.shape(), (Shape{9, 1, 4}));
  const std::vector<double> table = test::values_of(parameters_.begin()->value);
  const std::vector<double> values = test::values_of(y.value);
  for (std::size_t i = 0; i < 9; ++i) {
    const auto row =
        static_cast<std::size_t>(RelativeBuckets{8, 6, true}(static_cast<Index>(i) - 4));
    EXPECT_EQ(values[4 * i], table[4 * row]) << i;
  }
}

TEST_F(RelativePositionBiasTest, TheTableLearns) {
  const RelativePositionBias bias(builder_, *device_, 5, false);
  initialize();
  Tape tape;
  Context cx = context(&tape);
  const Var y = bias.forward(cx);
  tape.backward(cx, y.slot, test::random_tensor(*device_, y.shape(), DType::f32, 8));
  const std::vector<double> gradient = test::values_of(parameters_.begin()->sink.main_grad);
  EXPECT_NE(gradient[0], 0);      // behind the query and on it
  EXPECT_EQ(gradient[4 * 8], 0);  // further away than any
}

}  // namespace relative_position_bias_test
}  // namespace mpitron::nn
