#pragma once
#include <cmath>
#include <deque>
#include <functional>

#include <gtest/gtest.h>

#include "autograd/gradient.h"
#include "autograd/parameter.h"
#include "support/tensors.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Tape;
using autograd::Var;
using tensor::Tensor;

/// Checks an op's backward against central differences of its forward, in fp64 on the reference
/// device: gradients of inputs and parameters, `=` on the first and `+=` on the second microbatch,
/// and added to what an input's slot holds already.
class GradientCheck : public ::testing::Test {
 protected:
  using Op = std::function<Var(Context&, const std::vector<Var>&)>;

  /// An fp64 parameter whose main_grad is NaN until it is written.
  Parameter& parameter(const Shape& shape) {
    Parameter& p = parameters_.emplace_back();
    p.name = "parameter " + std::to_string(parameters_.size());
    p.shape = shape;
    p.value = random(shape);
    p.sink.main_grad = Tensor::empty(*device_, shape, DType::f64);
    return p;
  }
  Tensor random(const Shape& shape) {
    return test::random_tensor(*device_, shape, DType::f64, ++seed_);
  }
  Context context(Tape* tape = nullptr) {
    return {
        .device = *device_, .seed = 11, .iteration = 2, .recorder = {.tape = tape, .usage = tape}};
  }

  /// `op` may overwrite its inputs: it gets fresh copies.
  void expect_gradients(const std::vector<Tensor>& inputs, const Op& op) {
    const Tensor y = op_run(op, variables(inputs), nullptr);
    weights_ = test::test_values(y.numel(), 1000);
    const auto loss = [&] { return weighted_sum(op_run(op, variables(inputs), nullptr)); };
    const std::vector<Var> x = variables(inputs);
    for (Parameter& p : parameters_) {
      test::set_values(
          p.sink.main_grad,
          std::vector<double>(static_cast<std::size_t>(p.sink.main_grad.numel()), NAN));
      p.sink.written = false;
    }
    play(op, x);
    expect_numeric(inputs, x, loss, 1, 0);
    expect_use(op, inputs);

    // A second microbatch; its inputs have another consumer, which has sent 0.5 already.
    const std::vector<Var> again = variables(inputs);
    for (const Var& v : again) {
      v.slot.gradient() =
          test::make_tensor(*device_, v.shape(), DType::f64,
                            std::vector<double>(static_cast<std::size_t>(v.value.numel()), 0.5));
    }
    play(op, again);
    expect_numeric(inputs, again, loss, 2, 0.5);
  }

  std::unique_ptr<device::Device> device_ = device::make_device("reference");
  std::deque<Parameter> parameters_;
  double tolerance_ = 1e-7;

 private:
  std::vector<Var> variables(const std::vector<Tensor>& inputs) {
    std::vector<Var> x;
    for (const Tensor& input : inputs) {
      x.push_back(autograd::variable(
          test::make_tensor(*device_, input.shape(), input.dtype(), test::values_of(input))));
    }
    return x;
  }
  Tensor op_run(const Op& op, const std::vector<Var>& x, Tape* tape) {
    Context cx = context(tape);
    return op(cx, x).value;
  }
  void play(const Op& op, const std::vector<Var>& x) {
    Tape tape;
    Context cx = context(&tape);
    autograd::Slot output;
    Shape shape;
    DType dtype{};
    {
      const Var y = op(cx, x);
      output = y.slot, shape = y.shape(), dtype = y.value.dtype();
    }
    tape.backward(cx, output, test::make_tensor(*device_, shape, dtype, weights_));
  }
  /// The op notes exactly the parameters that this test made, with or without recording.
  void expect_use(const Op& op, const std::vector<Tensor>& inputs) {
    Tape usage;
    Context cx = context();
    cx.recorder.usage = &usage;
    op(cx, variables(inputs));
    EXPECT_EQ(usage.uses().size(), parameters_.size());
  }
  double weighted_sum(const Tensor& y) const {
    double sum = 0;
    for (Index i = 0; const double value : test::values_of(y)) {
      sum += value * weights_[static_cast<std::size_t>(i++)];
    }
    return sum;
  }
  void expect_numeric(const std::vector<Tensor>& inputs, const std::vector<Var>& x,
                      const std::function<double()>& loss, double microbatches, double prior) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_TRUE(x[i].slot.gradient()) << "input " << i;
      compare("input " + std::to_string(i), inputs[i], x[i].slot.gradient(), loss, 1, prior);
    }
    for (const Parameter& p : parameters_) {
      compare(p.name, p.value, p.sink.main_grad, loss, microbatches, 0);
    }
  }
  void compare(const std::string& name, const Tensor& at, const Tensor& gradient,
               const std::function<double()>& loss, double factor, double offset) {
    constexpr double kStep = 1e-5;
    const kernels::reference::Writer writer(at.view());
    const std::vector<double> values = test::values_of(gradient);
    ASSERT_EQ(gradient.numel(), at.numel()) << name;
    for (Index i = 0; i < at.numel(); ++i) {
      const double value = writer(i);
      writer.set(value + kStep, i);
      const double above = loss();
      writer.set(value - kStep, i);
      const double below = loss();
      writer.set(value, i);
      EXPECT_NEAR(values[static_cast<std::size_t>(i)],
                  factor * (above - below) / (2 * kStep) + offset, tolerance_)
          << name << ", element " << i;
    }
  }

  std::vector<double> weights_;
  unsigned seed_ = 0;
};

}  // namespace mpitron::ops
