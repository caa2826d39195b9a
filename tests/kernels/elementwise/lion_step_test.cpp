#include "kernels/elementwise/optimizer.h"
#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace lion_step_test {

TEST(LionStep, AsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const bool narrow : {true, false}) {
      for (const Index n : {1, 17, 4097}) {
        Workbench bench({1, 0});
        Twin &param = bench.inout(DType::f32, {n}), &average = bench.inout(DType::f32, {n});
        Twin &grad = bench.input(type, {n}), &copy = bench.inout(DType::bf16, {n});
        bench.check(
            [&](Side side) {
              LionStep k{param(side), average(side), grad(side), {}};
              k.model_param = narrow ? Out{copy(side)} : Out{};
              k.lr = 1e-2f, k.weight_decay = 0.1f, k.grad_scale = 0.25f;
              return k;
            },
            1e-6);
      }
    }
  }
}

/// Signs of numbers as small as they get; 0 has none.
TEST(LionStep, StepsAreSigns) {
  TestTensor param(DType::f32, {4}, {0, 0, 0, 0}), average(DType::f32, {4}, {0, 0, 0, 1e-44});
  TestTensor grad(DType::f32, {4}, {1e30, -1e-43, 0, 0});
  LionStep k{param.view(), average.view(), grad.view(), {}};
  k.lr = 0.5f;
  run_on_device(k);
  EXPECT_EQ(param.values(), (std::vector<double>{-0.5, 0.5, 0, -0.5}));
}

}  // namespace lion_step_test
}  // namespace mpitron::kernels
