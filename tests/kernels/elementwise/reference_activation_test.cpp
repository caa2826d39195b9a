#include "kernels/elementwise/activation.h"
#include "tests/kernels/golden_tables.h"
#include "tests/kernels/gradient_check.h"

namespace mpitron::kernels {
namespace reference_activation_test {

device::ReferenceStream stream;

constexpr Activation kAll[] = {Activation::none, Activation::gelu_tanh,    Activation::gelu_erf,
                               Activation::silu, Activation::squared_relu, Activation::tanh};

std::vector<double> forward(Activation activation, const std::vector<double>& x, double bias) {
  const auto n = static_cast<Index>(x.size());
  TestTensor in(DType::f64, {n, 1}, x), b(DType::f64, {1}, {bias}), out(DType::f64, {n, 1});
  run(stream, BiasActivationForward{in.view(), b.view(), out.view(), activation});
  return out.values();
}

TEST(ReferenceActivation, HandCheckedValues) {
  expect_close(forward(Activation::squared_relu, {-2, 0, 3}, 1), {0, 1, 16}, 1e-15);
  expect_close(forward(Activation::silu, {0, std::log(3.0)}, 0), {0, 0.75 * std::log(3.0)}, 1e-15);
  expect_close(forward(Activation::gelu_erf, {0, 1}, 0), {0, 0.8413447460685429}, 1e-15);
  expect_close(forward(Activation::gelu_tanh, {0, 1}, 0), {0, 0.8411919906082768}, 1e-8);
  expect_close(forward(Activation::none, {2}, 1), {3}, 0);
  expect_close(forward(Activation::tanh, {0, std::log(2.0)}, 0), {0, 0.6}, 1e-15);
}

TEST(ReferenceActivation, BackwardIsTheGradient) {
  for (const Activation activation : kAll) {
    TestTensor x(DType::f64, {4, 3}, test_values(12, 1)), bias(DType::f64, {3}, {0.1, -0.2, 0.3});
    TestTensor y(DType::f64, {4, 3}), dx(DType::f64, {4, 3});
    TestTensor dy(DType::f64, {4, 3}, test_values(12, 2));
    const BiasActivationForward kernel{x.view(), bias.view(), y.view(), activation};
    run(stream, BiasActivationBackward{x.view(), dy.view(), bias.view(), dx.view(), activation});
    expect_gradient(x, dx.values(), [&] {
      run(stream, kernel);
      return weighted_sum(y, dy.values());
    });
  }
}

TEST(ReferenceActivation, GatedBackwardIsTheGradient) {
  for (const Activation activation : kAll) {
    TestTensor x(DType::f64, {3, 4}, test_values(12, 3)), bias(DType::f64, {4}, test_values(4, 4));
    TestTensor y(DType::f64, {3, 2}), dx(DType::f64, {3, 4});
    TestTensor dy(DType::f64, {3, 2}, test_values(6, 5));
    const GatedActivationForward kernel{x.view(), bias.view(), y.view(), activation};
    run(stream, GatedActivationBackward{x.view(), dy.view(), bias.view(), dx.view(), activation});
    expect_gradient(x, dx.values(), [&] {
      run(stream, kernel);
      return weighted_sum(y, dy.values());
    });
  }
}

TEST(ReferenceActivation, GoldenTable) {
  const auto table = golden_table("activations");
  if (table.is_null()) {
    GTEST_SKIP() << "no " << test::golden_folder();
  }
  const std::vector<double> x = flatten(table["x"]);
  const double bias = table["bias"];
  // fp32 cancellation in the tails of the recorded figures: absolute 1e-6.
  expect_close(forward(Activation::gelu_tanh, x, bias), flatten(table["bias_gelu"]), 1e-6, 1);
  expect_close(forward(Activation::gelu_erf, x, 0), flatten(table["gelu_erf"]), 1e-6, 1);
  expect_close(forward(Activation::silu, x, 0), flatten(table["silu"]), 1e-6, 1);
  expect_close(forward(Activation::squared_relu, x, 0), flatten(table["squared_relu"]), 1e-6);

  const auto n = static_cast<Index>(x.size());
  TestTensor in(DType::f64, {n, 1}, x), b(DType::f64, {1}, {bias}), dx(DType::f64, {n, 1});
  TestTensor ones(DType::f64, {n, 1}, std::vector<double>(x.size(), 1));
  run(stream, BiasActivationBackward{in.view(), ones.view(), b.view(), dx.view()});
  expect_close(dx.values(), flatten(table["bias_gelu_backward_of_ones"]), 2e-6, 1);
}

TEST(ReferenceActivation, GoldenSwiglu) {
  const auto table = golden_table("activations");
  if (table.is_null()) {
    GTEST_SKIP() << "no " << test::golden_folder();
  }
  const std::vector<double> gate = flatten(table["swiglu_gate"]), up = flatten(table["swiglu_up"]);
  const auto n = static_cast<Index>(gate.size());
  std::vector<double> x;  // rows of [gate, up]
  for (std::size_t i = 0; i < gate.size(); ++i) {
    x.insert(x.end(), {gate[i], up[i]});
  }
  TestTensor in(DType::f64, {n, 2}, x), y(DType::f64, {n, 1}), dx(DType::f64, {n, 2});
  TestTensor ones(DType::f64, {n, 1}, std::vector<double>(gate.size(), 1));
  run(stream, GatedActivationForward{in.view(), {}, y.view()});
  expect_close(y.values(), flatten(table["swiglu"]), 1e-6, 1);
  run(stream, GatedActivationBackward{in.view(), ones.view(), {}, dx.view()});
  expect_close(dx.values(), flatten(table["swiglu_backward_of_ones"]), 1e-6, 1);
}

}  // namespace reference_activation_test
}  // namespace mpitron::kernels
