#include "kernels/optimizer.h"
#include "tests/kernels/host_check.h"
#include "utils/exact_sum.h"

namespace mpitron::kernels {
namespace {

// Steps of both rules are a dozen fp32 operations.
constexpr double kTolerance = 1e-6;
constexpr Index kSizes[] = {1, 15, 17, 65, 4095, 4097, 40000};

template <class F>
void for_cases(F&& f) {
  for (const DType grad : kTrainingTypes) {
    for (const int model : {0, 1, 2}) {  // none, bf16, fp16
      for (const Index n : kSizes) {
        SCOPED_TRACE(::testing::Message()
                     << "grad " << name_of(grad) << " model " << model << " n " << n);
        f(grad, model, n);
      }
    }
  }
}

TEST(HostOptimizer, Adam) {
  for_cases([](DType grad_dtype, int model, Index n) {
    Workbench bench({1, 0});
    Twin &param = bench.inout(DType::f32, {n}), &m = bench.inout(DType::f32, {n}, 0.1);
    Twin &v = bench.inout(DType::f32, {n}), &grad = bench.input(grad_dtype, {n});
    std::vector<double> squares = test_values(n, 99);
    for (double& value : squares) {
      value *= value;
    }
    v.fill(squares);
    Twin& copy = bench.output(model == 2 ? DType::f16 : DType::bf16, {n});
    if (model == 0) {
      copy.fill(std::vector<double>(static_cast<std::size_t>(n), 0));
    }
    bench.check(
        [&](Side side) {
          AdamStep k{param(side), m(side), v(side), grad(side), {}};
          k.model_param = model == 0 ? Out{} : Out{copy(side)};
          k.lr = 1e-2f;
          k.weight_decay = 0.1f;
          k.bias_correction1 = 0.3f;
          k.bias_correction2 = 0.01f;
          k.grad_scale = 0.25f;
          return k;
        },
        kTolerance);
  });
}

TEST(HostOptimizer, Sgd) {
  for_cases([](DType grad_dtype, int model, Index n) {
    Workbench bench({1, 0});
    Twin &param = bench.inout(DType::f32, {n}), &buffer = bench.inout(DType::f32, {n});
    Twin& grad = bench.input(grad_dtype, {n});
    Twin& copy = bench.output(model == 2 ? DType::f16 : DType::bf16, {n});
    if (model == 0) {
      copy.fill(std::vector<double>(static_cast<std::size_t>(n), 0));
    }
    bench.check(
        [&](Side side) {
          SgdStep k{param(side), buffer(side), grad(side), {}};
          k.model_param = model == 0 ? Out{} : Out{copy(side)};
          k.lr = 1e-2f;
          k.weight_decay = 0.1f;
          k.grad_scale = 0.25f;
          return k;
        },
        kTolerance);
  });
}

template <class Stream>
double sum_of_squares(const device::ConstTensorView& x, Index cut = 0) {
  TestTensor bins(DType::i64, {exact_sum::kBins});
  Stream stream;
  for (const auto& [begin, end] : {std::pair(cut, x.numel()), std::pair(Index{0}, cut)}) {
    run(stream, SumOfSquares{device::slice(x, 0, begin, end), bins.view()});
  }
  return exact_sum::value(exact_sum::Bins(bins.view().as<std::int64_t>(), exact_sum::kBins));
}

TEST(HostOptimizer, SumOfSquares) {
  for (const DType dtype : kTrainingTypes) {
    for (const Index n : kSizes) {
      TestTensor x(dtype, {n}, test_values(n, 5));
      const double expected = sum_of_squares<device::ReferenceStream>(x.view());
      EXPECT_NEAR(sum_of_squares<device::HostStream>(x.view()), expected, kTolerance * expected);
    }
  }
}

/// Not even the last bit depends on where a vector is cut.
TEST(HostOptimizer, SumOfSquaresOfPieces) {
  TestTensor x(DType::f32, {40000}, test_values(40000, 5));
  const double whole = sum_of_squares<device::HostStream>(x.view());
  for (const Index cut : {64, 640, 39936}) {
    EXPECT_EQ(sum_of_squares<device::HostStream>(x.view(), cut), whole);
    EXPECT_EQ(sum_of_squares<device::ReferenceStream>(x.view(), cut),
              sum_of_squares<device::ReferenceStream>(x.view()));
  }
}

TEST(HostOptimizer, SumOfSquaresBeyondFp32) {
  for (const double huge : {1e30, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    std::vector<double> values(5000, 1);
    values[4500] = huge;
    TestTensor x(DType::f32, {5000}, values);
    const double sum = sum_of_squares<device::HostStream>(x.view());
    EXPECT_EQ(std::isfinite(sum), std::isfinite(huge));
    if (std::isfinite(huge)) {
      EXPECT_NEAR(sum, 1e60, 1e54);
    }
  }
}

TEST(HostOptimizer, CountZeros) {
  for (const DType dtype : kTrainingTypes) {
    for (const Index n : kSizes) {
      Workbench bench({1, 0});
      Twin &x = bench.input(dtype, {n}), &result = bench.output(DType::i64, {1});
      std::vector<double> values = test_values(n, 3);
      for (std::size_t i = 0; i < values.size(); i += 7) {
        values[i] = i % 2 == 0 ? 0.0 : -0.0;
      }
      x.fill(values);
      bench.check([&](Side side) { return CountZeros{x(side), result(side)}; }, 0);
    }
  }
}

}  // namespace
}  // namespace mpitron::kernels
