#include "kernels/elementwise/optimizer.h"

#include <deque>

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace optimizer_test {

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

TEST(Optimizer, Adam) {
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

TEST(Optimizer, Sgd) {
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

/// The steps in one piece with the kernel, as run_on_device wants them.
template <class Step>
struct ManySteps {
  static constexpr std::size_t kCount = 2 * kStepsTogether + 3;
  Step steps[kCount];
};
template <class Step>
void run(StreamUnderTest& stream, const ManySteps<Step>& k) {
  kernels::run(stream, Steps<Step>{k.steps});
}

/// Tensors of one step.
template <class Step>
struct StepCase {
  StepCase(DType grad_type, Index n, bool with_model)
      : param(DType::f32, {n}, test_values(n, 1)),
        average(DType::f32, {n}, test_values(n, 2)),
        grad(grad_type, {n}, test_values(n, 3)),
        model(DType::bf16, {n}),
        own_model(with_model) {}
  Step step(float lr) {
    Step k{param.view(), average.view(), grad.view(), own_model ? Out(model.view()) : Out()};
    k.lr = lr;
    k.weight_decay = 0.1f;
    return k;
  }

  TestTensor param, average, grad, model;
  bool own_model;
};

template <class Step>
class StepsTogether : public ::testing::Test {};
using StepKinds = ::testing::Types<SgdStep, LionStep>;
TYPED_TEST_SUITE(StepsTogether, StepKinds);

TYPED_TEST(StepsTogether, HaveTheBitsOfEach) {
  constexpr Index kAFewBlocks = 5003;
  std::deque<StepCase<TypeParam>> together, alone;
  ManySteps<TypeParam> many;
  for (std::size_t i = 0; i < std::size(many.steps); ++i) {
    const DType grad = kTrainingTypes[i % std::size(kTrainingTypes)];
    const Index n = i % 7 == 3 ? kAFewBlocks : static_cast<Index>(1 + 37 * i);
    const float lr = 1e-2f * static_cast<float>(1 + i);
    many.steps[i] = together.emplace_back(grad, n, i % 2 == 0).step(lr);
    run_on_device(alone.emplace_back(grad, n, i % 2 == 0).step(lr));
  }
  run_on_device(many);
  for (std::size_t i = 0; i < together.size(); ++i) {
    EXPECT_TRUE(together[i].param.bytes() == alone[i].param.bytes()) << i;
    EXPECT_TRUE(together[i].average.bytes() == alone[i].average.bytes()) << i;
    EXPECT_TRUE(together[i].model.bytes() == alone[i].model.bytes()) << i;
  }
}

TEST(Optimizer, CountZeros) {
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

}  // namespace optimizer_test
}  // namespace mpitron::kernels
