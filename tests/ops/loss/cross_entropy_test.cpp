#include "ops/loss/cross_entropy.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace cross_entropy_test {

class CrossEntropyTest : public GradientCheck {
 protected:
  /// Of a vocabulary of 7.
  Tensor labels() { return test::make_ids(*device_, {3, 2}, {2, 6, 0, 4, 5, 2}); }
};

TEST_F(CrossEntropyTest, BackwardIsTheGradientWithAndWithoutSmoothing) {
  for (const float smoothing : {0.f, 0.25f}) {
    expect_gradients({random({3, 2, 7})}, [&](Context& context, const std::vector<Var>& x) {
      return cross_entropy(context, x[0], labels(), smoothing);
    });
  }
}

/// A label outside the vocabulary has no target term: the loss is log sum exp(l - max), and the
/// gradient is the softmax, as the reference has it (which differentiates no maximum).
TEST_F(CrossEntropyTest, ALabelOutsideTheVocabularyLeavesTheSoftmax) {
  Tape tape;
  Context cx = context(&tape);
  const Var logits = autograd::variable(test::make_tensor(
      *device_, {1, 1, 3}, DType::f64, {std::log(1.0), std::log(2.0), std::log(5.0)}));
  const Var loss = cross_entropy(cx, logits, test::make_ids(*device_, {1, 1}, {3}));
  EXPECT_NEAR(test::values_of(loss.value)[0], std::log(8.0 / 5), 1e-12);
  tape.backward(cx, loss.slot, test::make_tensor(*device_, {1, 1}, DType::f64, {2}));
  const std::vector<double> gradient = test::values_of(logits.slot.gradient());
  EXPECT_NEAR(gradient[0], 0.25, 1e-12);
  EXPECT_NEAR(gradient[1], 0.5, 1e-12);
  EXPECT_NEAR(gradient[2], 1.25, 1e-12);
}

TEST_F(CrossEntropyTest, EqualLogitsCostTheLogarithmOfTheVocabulary) {
  Context cx = context();
  const Tensor logits =
      test::make_tensor(*device_, {1, 1, 8}, DType::f64, std::vector<double>(8, 3.0));
  const Var loss =
      cross_entropy(cx, autograd::variable(logits), test::make_ids(*device_, {1, 1}, {5}));
  EXPECT_EQ(loss.shape(), (Shape{1, 1}));
  EXPECT_NEAR(test::values_of(loss.value)[0], std::log(8.0), 1e-12);
}

/// The logits are the largest buffer of a step: their gradient takes their memory.
TEST_F(CrossEntropyTest, BackwardReusesTheMemoryOfTheLogits) {
  Tape tape;
  Context cx = context(&tape);
  const Var logits = autograd::variable(random({3, 2, 7}));
  const Var loss = cross_entropy(cx, logits, labels());
  tape.backward(cx, loss.slot, random({3, 2}));
  EXPECT_EQ(logits.slot.gradient().view().data, logits.value.view().data);
}

TEST_F(CrossEntropyTest, HalfPrecisionLogitsHaveAnFp32Loss) {
  Context cx = context();
  const Var logits = autograd::variable(test::random_tensor(*device_, {3, 2, 7}, DType::bf16, 1));
  EXPECT_EQ(cross_entropy(cx, logits, labels()).value.dtype(), DType::f32);
}

}  // namespace cross_entropy_test
}  // namespace mpitron::ops
