#include "parallel/gradient_buffer.h"

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/toy_model.h"

namespace mpitron::parallel {
namespace gradient_buffer_test {

using autograd::Context;
using autograd::Tape;
using autograd::Var;
namespace toy = autograd::toy;

class GradientBufferTest : public ::testing::Test {
 protected:
  /// One parameter of 6 elements and one of 70.
  GradientBufferTest() {
    for (const Shape& shape : {Shape{2, 3}, Shape{70}}) {
      Parameter& p = parameters_.add({.name = "p", .shape = shape});
      p.role.linear_weight = shape.rank() == 2;
      p.value = tensor::Tensor::empty(*device_, shape, DType::f16);
    }
  }
  std::unique_ptr<device::Device> device_ = device::make_device("reference");
  ParameterList parameters_;
};

TEST_F(GradientBufferTest, LaysAlignedViewsIntoOneBuffer) {
  const GradientBuffer buffer(*device_, parameters_, {});
  EXPECT_EQ(buffer.flat().numel(), 64 + 128);
  const auto *start = buffer.flat().data<float>(),
             *second = (parameters_.begin() + 1)->sink.main_grad.data<float>();
  EXPECT_EQ(parameters_.begin()->sink.main_grad.data<float>(), start + 128);
  EXPECT_EQ(second, start);
  EXPECT_EQ(parameters_.begin()->sink.main_grad.shape(), (Shape{2, 3}));
}

TEST_F(GradientBufferTest, PaddingIsZero) {
  const GradientBuffer buffer(*device_, parameters_, {});
  for (Parameter& parameter : parameters_) {
    const std::vector<double> ones(static_cast<std::size_t>(parameter.sink.main_grad.numel()), 1);
    test::set_values(parameter.sink.main_grad, ones);
  }
  double sum = 0;
  for (const double value : test::values_of(buffer.flat())) {
    sum += value;
  }
  EXPECT_EQ(sum, 76);
}

/// fp16 rounds every microbatch's gradient, except where the product adds into main_grad itself.
TEST_F(GradientBufferTest, ThePolicyDecidesTypesAndRounding) {
  const auto rounding = [&](const GradientPolicy& policy) {
    const GradientBuffer buffer(*device_, parameters_, policy);
    EXPECT_EQ(buffer.flat().dtype(), policy.main_grad_dtype);
    return std::pair(parameters_.begin()->sink.rounds, (parameters_.begin() + 1)->sink.rounds);
  };
  EXPECT_EQ(rounding({}), std::pair(false, false));
  EXPECT_EQ(rounding({.round_gradients = true}), std::pair(false, true));
  EXPECT_EQ(rounding({.main_grad_dtype = DType::f16,
                      .fused_linear_gradients = false,
                      .round_gradients = true}),
            std::pair(true, true));
}

/// A branch that got no gradient: its parameter still contributes, as zeros.
TEST_F(GradientBufferTest, UnusedParametersEndTheStepAsZeros) {
  ParameterList parameters;
  Parameter& used = toy::make_weight(*device_, parameters, 8, 8);
  Parameter& idle = toy::make_weight(*device_, parameters, 8, 8);
  GradientBuffer buffer(*device_, parameters, {});
  for (int iteration = 0; iteration < 2; ++iteration) {
    buffer.begin_step();
    // What the last step left must not leak into this one.
    test::set_values(used.sink.main_grad, std::vector<double>(64, NAN));
    test::set_values(idle.sink.main_grad, std::vector<double>(64, NAN));
    Tape tape;
    Context cx{.device = *device_, .recorder = {.tape = &tape, .usage = &tape}};
    const Var x = autograd::variable(test::random_tensor(*device_, {6, 8}, DType::f32, 1));
    const Var y = toy::linear(cx, x, used);
    toy::linear(cx, x, idle);
    tape.backward(cx, y.slot, test::random_tensor(*device_, {6, 8}, DType::f32, 2));
    EXPECT_EQ(tape.uses(), (autograd::ParameterUses{&used, &idle}));
    buffer.finish_step();
    EXPECT_EQ(test::values_of(idle.sink.main_grad), std::vector<double>(64, 0));
    for (const double value : test::values_of(used.sink.main_grad)) {
      EXPECT_TRUE(std::isfinite(value) && value != 0);
    }
  }
}

}  // namespace gradient_buffer_test
}  // namespace mpitron::parallel
