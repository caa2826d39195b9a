#include "ops/elementwise/embedding.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace embedding_test {

class EmbeddingTest : public GradientCheck {
 protected:
  EmbeddingInputs inputs() {
    // Token 2 comes twice; 0 never.
    return {.ids = test::make_ids(*device_, {3, 2}, {2, 4, 1, 2, 3, 1}),
            .position_ids = test::make_ids(*device_, {3, 2}, {0, 0, 1, 1, 2, 0})};
  }
};

TEST_F(EmbeddingTest, BackwardIsTheGradient) {
  Parameter& words = parameter({5, 4});
  expect_gradients({}, [&](Context& context, const std::vector<Var>&) {
    return embedding(context, inputs(), words, nullptr);
  });
}

TEST_F(EmbeddingTest, BackwardIsTheGradientWithPositions) {
  Parameter &words = parameter({5, 4}), &positions = parameter({3, 4});
  expect_gradients({}, [&](Context& context, const std::vector<Var>&) {
    return embedding(context, inputs(), words, &positions);
  });
}

TEST_F(EmbeddingTest, AddsTheRowsOfTokenAndPosition) {
  Parameter &words = parameter({5, 4}), &positions = parameter({3, 4});
  Context cx = context();
  const Var y = embedding(cx, inputs(), words, &positions);
  EXPECT_EQ(y.shape(), (Shape{3, 2, 4}));
  const std::vector<double> w = test::values_of(words.value), p = test::values_of(positions.value);
  // s = 2, b = 0: token 3 at position 2.
  EXPECT_NEAR(test::values_of(y.value)[2 * 8 + 1], w[3 * 4 + 1] + p[2 * 4 + 1], 1e-15);
}

/// Behind what waits already (the output layer's addition to a tied table), with the same bits.
TEST_F(EmbeddingTest, AGradientThatWaitsIsTheSame) {
  Parameter &words = parameter({5, 4}), &positions = parameter({3, 4});
  const Tensor dy = random({3, 2, 4});
  const auto gradients = [&](autograd::DeferredGradients* later) {
    Tape tape;
    Context cx = context(&tape);
    words.sink.written = positions.sink.written = false;
    const Var y = embedding(cx, inputs(), words, &positions);
    cx.recorder.deferred = later;
    tape.backward(cx, y.slot, dy);
    EXPECT_EQ(words.sink.written, later == nullptr);
    EXPECT_TRUE(positions.sink.written);
    if (later != nullptr) {
      later->play(context());
    }
    return test::values_of(words.sink.main_grad);
  };
  autograd::DeferredGradients later;
  EXPECT_EQ(gradients(&later), gradients(nullptr));
}

}  // namespace embedding_test
}  // namespace mpitron::ops
