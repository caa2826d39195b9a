#include "nn/layers/pooled_classifier.h"

#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace pooled_classifier_test {

class PooledClassifierTest : public LayerTest {};

const autograd::Initialization kStart{.kind = autograd::Initialization::Kind::normal, .std = 0.02};
const PooledClassifier::Layer kPooler{"pooler.dense", kStart}, kHead{"binary_head", kStart};

TEST_F(PooledClassifierTest, LooksAtTheFirstPositionOnly) {
  const PooledClassifier head(builder_, 2, kPooler, kHead);
  EXPECT_EQ(names(), (std::vector<std::string>{"binary_head.weight", "binary_head.bias",
                                               "pooler.dense.weight", "pooler.dense.bias"}));
  initialize();
  Tape tape;
  Context cx = context(&tape);
  const Var x = input(), y = head.forward(cx, x);
  ASSERT_EQ(y.shape(), (Shape{1, 2, 2}));
  tape.backward(cx, y.slot, test::random_tensor(*device_, y.shape(), DType::f32, 8));
  const std::vector<double> gradient = test::values_of(x.slot.gradient());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_EQ(gradient[i] != 0, i < 2 * 16) << i;
  }
}

/// head(tanh(pooler(x_0))), by plain loops.
TEST_F(PooledClassifierTest, IsDenseTanhDense) {
  const PooledClassifier head(builder_, 2, kPooler, kHead);
  initialize();
  Context cx = context();
  const Var x = input();
  const std::vector<double> y = test::values_of(head.forward(cx, x).value);
  const std::vector<double> rows = test::values_of(x.value);
  const auto weight = [&](const char* name) {
    return test::values_of(parameters_.find(name)->value);
  };
  const std::vector<double> pooler = weight("pooler.dense.weight"),
                            classes = weight("binary_head.weight");
  for (std::size_t sample = 0; sample < 2; ++sample) {
    double expected[2] = {0, 0};
    for (std::size_t i = 0; i < 16; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < 16; ++j) {
        sum += rows[16 * sample + j] * pooler[16 * i + j];
      }
      for (std::size_t k = 0; k < 2; ++k) {
        expected[k] += std::tanh(sum) * classes[16 * k + i];
      }
    }
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(y[2 * sample + k], expected[k], 1e-5);
    }
  }
}

}  // namespace pooled_classifier_test
}  // namespace mpitron::nn
