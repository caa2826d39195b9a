#include "kernels/experts/router_noise.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace router_noise_test {

TokenNoise some_noise() {
  TokenNoise noise{.key = {7, 8}, .batch = 3};
  noise.index.sequence = {.split = 2, .offset = {4, 9}};
  noise.index.sample_offset = 6;
  noise.index.sample_stride = 2;
  return noise;
}

TEST(RouterNoise, Jitter) {
  for (const DType dtype : kTrainingTypes) {
    Workbench bench({1, 3});
    Twin &x = bench.input(dtype, {12, 65}), &y = bench.output(dtype, {12, 65});
    bench.check([&](Side side) { return Jitter{x(side), y(side), 0.1F, some_noise()}; }, 3e-7);
  }
}

TEST(RouterNoise, RandomLogits) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    Workbench bench;
    Twin& logits = bench.output(dtype, {12, 9});
    bench.check([&](Side side) { return RandomLogits{logits(side), some_noise()}; }, 0);
  }
}

}  // namespace router_noise_test
}  // namespace mpitron::kernels
