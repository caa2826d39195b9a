#include "autograd/recompute.h"

#include <gtest/gtest.h>

#include "autograd/toy_model.h"

namespace mpitron::autograd {
namespace recompute_test {

class RecomputeTest : public ::testing::Test {
 protected:
  Context context(Tape* tape) {
    return {
        .device = *device_, .seed = 5, .iteration = 3, .recorder = {.tape = tape, .usage = tape}};
  }
  std::unique_ptr<device::Device> device_ = device::make_device("reference");
};

/// Output, input gradient and weight gradients of one step.
struct Step {
  std::vector<std::byte> output, input_gradient, gradients;
  bool operator==(const Step&) const = default;
};

TEST_F(RecomputeTest, GivesTheBitsOfStoredActivationsWithDropoutOn) {
  const auto step = [&](bool recomputed) {
    toy::Model model(*device_);
    Tape tape;
    Context cx = context(&tape);
    const Var x = variable(model.input(0)), y = model.forward(cx, x, recomputed);
    tape.backward(cx, y.slot, model.input(1));
    return Step{test::bits_of(y.value), test::bits_of(x.slot.gradient()), model.gradient_bits()};
  };
  EXPECT_EQ(step(true), step(false));
}

/// What is kept of the input is the caller's choice; backward starts from what it gives back.
TEST_F(RecomputeTest, StartsFromWhatTheCallerKept) {
  int asked = 0;
  const auto keep = [&asked](Context&, const Tensor& input) {
    return [&asked, copy = input](Context&) {
      ++asked;
      return copy;
    };
  };
  toy::Model model(*device_);
  Tape tape;
  Context cx = context(&tape);
  const auto block = [&model](Context& inner, const Var& input) {
    return model.forward(inner, input, false);
  };
  const Var x = variable(model.input(0)), y = recompute(cx, block, x, keep);
  EXPECT_EQ(asked, 0);
  tape.backward(cx, y.slot, model.input(1));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(x.slot.gradient());
}

/// A weight used three times (tied embedding, relative bias, heads of multi-token prediction): it
/// is noted once, in the first pass, and its gradient is complete when the tape has been played.
TEST_F(RecomputeTest, ATiedWeightGetsAllOfItsGradient) {
  const auto gradient = [&](bool recomputed) {
    ParameterList parameters;
    Parameter& tied = toy::make_weight(*device_, parameters, 8, 8);
    Tape tape;
    Context cx = context(&tape);
    const auto block = [&tied](Context& inner, const Var& input) {
      return toy::linear(inner, input, tied);
    };
    Var x = variable(test::random_tensor(*device_, {6, 8}, DType::f32, 3));
    for (int use = 0; use < 3; ++use) {
      x = recomputed ? recompute(cx, block, x) : block(cx, x);
    }
    EXPECT_EQ(tape.uses(), ParameterUses{&tied});
    EXPECT_EQ(tape.size(), 3u);
    tape.backward(cx, x.slot, test::random_tensor(*device_, {6, 8}, DType::f32, 4));
    EXPECT_EQ(tape.uses(), ParameterUses{&tied});
    return test::bits_of(tied.sink.main_grad);
  };
  EXPECT_EQ(gradient(true), gradient(false));
}

TEST_F(RecomputeTest, WithoutATapeItJustRunsTheBlock) {
  toy::Model model(*device_);
  Context cx = context(nullptr);
  EXPECT_EQ(test::bits_of(model.forward(cx, variable(model.input(0)), true).value),
            test::bits_of(model.forward(cx, variable(model.input(0)), false).value));
}

/// Tokens have no gradient; the block's parameters still get theirs.
TEST_F(RecomputeTest, AnInputWithoutGradientIsAllowed) {
  ParameterList parameters;
  Parameter& weight = toy::make_weight(*device_, parameters, 8, 8);
  Tape tape;
  Context cx = context(&tape);
  const Var x = constant(test::random_tensor(*device_, {6, 8}, DType::f32, 3));
  const Var y = recompute(
      cx, [&weight](Context& inner, const Var& input) { return toy::linear(inner, input, weight); },
      x);
  tape.backward(cx, y.slot, test::random_tensor(*device_, {6, 8}, DType::f32, 4));
  EXPECT_TRUE(weight.sink.written);
  EXPECT_FALSE(x.slot);
}

/// Blocks inside blocks: the inner tape records recomputed blocks of its own.
TEST_F(RecomputeTest, Nests) {
  const auto gradients = [&](bool recomputed) {
    toy::Model model(*device_);
    Tape tape;
    Context cx = context(&tape);
    const auto whole = [&](Context& inner, const Var& input) {
      return model.forward(inner, input, recomputed);
    };
    const Var x = variable(model.input(0));
    const Var y = recomputed ? recompute(cx, whole, x) : whole(cx, x);
    tape.backward(cx, y.slot, model.input(1));
    return model.gradient_bits();
  };
  EXPECT_EQ(gradients(true), gradients(false));
}

}  // namespace recompute_test
}  // namespace mpitron::autograd
