#include "ops/linear/grouped_linear.h"

#include "autograd/deferred_gradients.h"
#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace grouped_linear_test {

class GroupedLinearTest : public GradientCheck {
 protected:
  std::vector<Parameter*> weights(std::size_t count) {
    std::vector<Parameter*> result;
    for (std::size_t i = 0; i < count; ++i) {
      result.push_back(&parameter({2, 3}));
    }
    return result;
  }
};

TEST_F(GroupedLinearTest, BackwardIsTheGradient) {
  const std::vector<Parameter*> experts = weights(2);
  expect_gradients({random({5, 3})}, [&](Context& context, const std::vector<Var>& x) {
    return grouped_linear(context, x[0], experts, {1, 4});
  });
}

TEST_F(GroupedLinearTest, AnExpertWithoutTokensAddsNothingAndIsUsed) {
  const std::vector<Parameter*> experts = weights(3);
  Tape tape;
  Context cx = context(&tape);
  const Var y = grouped_linear(cx, autograd::variable(random({4, 3})), experts, {1, 0, 3});
  EXPECT_EQ(tape.uses().size(), 3u);
  tape.backward(cx, y.slot, random({4, 2}));
  EXPECT_TRUE(experts[0]->sink.written);
  EXPECT_FALSE(experts[1]->sink.written);
  EXPECT_EQ(experts[1]->sink.live_tapes, 0);
}

TEST_F(GroupedLinearTest, NobodyVisits) {
  const std::vector<Parameter*> experts = weights(2);
  Tape tape;
  Context cx = context(&tape);
  const Var x = autograd::variable(random({0, 3}));
  const Var y = grouped_linear(cx, x, experts, {0, 0});
  EXPECT_EQ(y.shape(), (Shape{0, 2}));
  tape.backward(cx, y.slot, random({0, 2}));
  EXPECT_EQ(x.slot.gradient().shape(), (Shape{0, 3}));
}

TEST_F(GroupedLinearTest, GradientsThatWaitAreTheSame) {
  const std::vector<Parameter*> experts = weights(3);
  const Tensor x = random({5, 3}), dy = random({5, 2});
  const auto gradients = [&](autograd::DeferredGradients* later) {
    Tape tape;
    Context cx = context(&tape);
    for (Parameter* expert : experts) {
      expert->sink.written = false;
    }
    const Var y = grouped_linear(cx, autograd::variable(x), experts, {2, 0, 3});
    cx.recorder.deferred = later;
    tape.backward(cx, y.slot, dy);
    if (later != nullptr) {
      EXPECT_FALSE(experts[0]->sink.written);
      EXPECT_EQ(later->size(), 1u);  // one product for all experts
      later->play(context());
    }
    std::vector<double> result = test::values_of(experts[0]->sink.main_grad);
    const std::vector<double> last = test::values_of(experts[2]->sink.main_grad);
    result.insert(result.end(), last.begin(), last.end());
    return result;
  };
  autograd::DeferredGradients later;
  EXPECT_EQ(gradients(&later), gradients(nullptr));
}

TEST_F(GroupedLinearTest, RoundedGradientsGoThroughABuffer) {
  Parameter& expert = parameter({2, 3});
  expert.sink.rounds = true;
  expert.value = test::random_tensor(*device_, {2, 3}, DType::f16, 3);
  expert.sink.main_grad = Tensor::empty(*device_, {2, 3}, DType::f32);
  Context cx = context();
  for (int microbatch = 0; microbatch < 2; ++microbatch) {
    Tape tape;
    cx.recorder.tape = &tape;
    const Var x = autograd::variable(test::random_tensor(*device_, {4, 3}, DType::f16, 4));
    const std::vector<Parameter*> experts{&expert};
    const Var y = grouped_linear(cx, x, experts, {4});
    tape.backward(cx, y.slot, test::random_tensor(*device_, {4, 2}, DType::f16, 5));
  }
  for (const double value : test::values_of(expert.sink.main_grad)) {
    const auto half = static_cast<float>(value / 2);
    EXPECT_EQ(static_cast<float>(Float16(half)), half);  // twice a number that was rounded
  }
}

}  // namespace grouped_linear_test
}  // namespace mpitron::ops
