#include "kernels/elementwise/activation.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace activation_test {

// 2e-7 of the exponential, 5e-7 of the normal distribution, and a few roundings of values that are
// at most a few times the largest output.
constexpr double kTolerance = 1.5e-6;

constexpr Activation kActivations[] = {
    Activation::none,         Activation::gelu_tanh, Activation::gelu_erf,   Activation::silu,
    Activation::squared_relu, Activation::tanh,      Activation::quick_gelu, Activation::sigmoid};

template <class F>
void for_cases(F&& f) {
  for (const DType dtype : kTrainingTypes) {
    for (const Activation activation : kActivations) {
      for (const Index h : {1, 17, 65, 130, 4097}) {
        for (const bool biased : {false, true}) {
          SCOPED_TRACE(::testing::Message() << name_of(dtype) << " activation "
                                            << static_cast<int>(activation) << " f " << h);
          f(dtype, activation, h, biased);
        }
      }
    }
  }
}

TEST(Activation, BiasForward) {
  for_cases([](DType dtype, Activation activation, Index f, bool biased) {
    Workbench bench({1, 3});
    Twin &x = bench.input(dtype, {3, f}, 8), &bias = bench.input(dtype, {f});
    Twin& y = bench.output(dtype, {3, f});
    bench.check(
        [&](Side side) {
          return BiasActivationForward{x(side), biased ? bias(side) : In{}, y(side), activation};
        },
        kTolerance);
  });
}

TEST(Activation, BiasBackwardInPlace) {
  for_cases([](DType dtype, Activation activation, Index f, bool biased) {
    Workbench bench({1, 3});
    Twin &x = bench.input(dtype, {3, f}, 5), &bias = bench.input(dtype, {f});
    Twin& dx = bench.inout(dtype, {3, f});
    bench.check(
        [&](Side side) {
          return BiasActivationBackward{x(side), dx(side), biased ? bias(side) : In{}, dx(side),
                                        activation};
        },
        kTolerance);
  });
}

TEST(Activation, GatedForward) {
  for_cases([](DType dtype, Activation activation, Index f, bool biased) {
    Workbench bench({1, 3});
    Twin &x = bench.input(dtype, {3, 2 * f}, 4), &bias = bench.input(dtype, {2 * f});
    Twin& y = bench.output(dtype, {3, f});
    bench.check(
        [&](Side side) {
          return GatedActivationForward{x(side), biased ? bias(side) : In{}, y(side), activation};
        },
        kTolerance);
  });
}

TEST(Activation, GatedBackwardInPlace) {
  for_cases([](DType dtype, Activation activation, Index f, bool biased) {
    Workbench bench({1, 3});
    Twin &dy = bench.input(dtype, {3, f}), &bias = bench.input(dtype, {2 * f});
    Twin& x = bench.inout(dtype, {3, 2 * f}, 4);
    bench.check(
        [&](Side side) {
          return GatedActivationBackward{x(side), dy(side), biased ? bias(side) : In{}, x(side),
                                         activation};
        },
        kTolerance);
  });
}

/// Inputs up to 4, of which the limits cut off most.
TEST(Activation, GatedWithinLimits) {
  for (const DType dtype : kTrainingTypes) {
    for (const GateLimits limits : {GateLimits{.clamp = 1.5F, .offset = 1}, {.offset = -0.5F}}) {
      Workbench bench({1, 3});
      Twin &x = bench.input(dtype, {3, 2 * 65}, 4), &y = bench.output(dtype, {3, 65});
      Twin &dy = bench.input(dtype, {3, 65}), &dx = bench.output(dtype, {3, 2 * 65});
      const auto forward = [&](Side side) {
        return GatedActivationForward{x(side), {}, y(side), Activation::quick_gelu, limits};
      };
      bench.check(forward, kTolerance);
      const auto backward = [&](Side side) {
        return GatedActivationBackward{x(side), dy(side), {}, dx(side), Activation::quick_gelu,
                                       limits};
      };
      bench.check(backward, kTolerance);
    }
  }
}

// GELU's left tail keeps its relative precision: no cancellation of 1 + tanh.
TEST(Activation, LeftTail) {
  for (const Activation activation : {Activation::gelu_tanh, Activation::gelu_erf}) {
    std::vector<double> values;
    for (int i = 0; i < 64; ++i) {
      values.push_back(-2 - 0.05 * i);
    }
    for (const double value : values) {
      Workbench bench;
      Twin &x = bench.input(DType::f32, {1, 1}), &y = bench.output(DType::f32, {1, 1});
      x.fill({value});
      bench.check(
          [&](Side side) {
            return BiasActivationForward{x(side), {}, y(side), activation};
          },
          2e-5);  // the argument's own rounding, magnified by the exponent 5^2 / 2
    }
  }
}

TEST(Activation, NanStaysNan) {
  for (const Activation activation : kActivations) {
    TestTensor x(DType::f32, {1, 3}, {1, NAN, 2}), y(DType::f32, {1, 3});
    run_on_device(BiasActivationForward{x.view(), {}, y.view(), activation});
    EXPECT_FALSE(std::isnan(y.values()[0]));
    EXPECT_TRUE(std::isnan(y.values()[1])) << static_cast<int>(activation);
    EXPECT_FALSE(std::isnan(y.values()[2]));
  }
}

}  // namespace activation_test
}  // namespace mpitron::kernels
