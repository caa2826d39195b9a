#include "kernels/elementwise/soft_targets.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace soft_targets_test {

TEST(SoftTargets, MatchReference) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    for (const Index v : {2, 37, 700}) {
      Workbench bench({1, 0});
      Twin &teacher = bench.input(dtype, {2, v}), &centre = bench.input(DType::f32, {v});
      Twin& targets = bench.output(DType::f32, {2, v});
      bench.check(
          [&](Side side) {
            return SharpSoftmax{teacher(side), centre(side), targets(side), 0.07f};
          },
          2e-5);
      Twin& logits = bench.input(dtype, {3, v});
      Twin& sources = bench.integers({1, -1, -1, 0, 0, 1}, {3, 2});
      Twin &loss = bench.output(DType::f32, {3}), &lse = bench.output(DType::f32, {3});
      bench.check(
          [&](Side side) {
            return SoftTargetForward{logits(side), targets(side), sources(side),
                                     loss(side),   lse(side),     0.1f};
          },
          1e-5);
      Twin &dloss = bench.input(DType::f32, {3}), &dlogits = bench.output(dtype, {3, v});
      bench.check(
          [&](Side side) {
            return SoftTargetBackward{.logits = logits(side),
                                      .targets = targets(side),
                                      .sources = sources(side),
                                      .lse = lse(side),
                                      .dloss = dloss(side),
                                      .dlogits = dlogits(side),
                                      .temperature = 0.1f};
          },
          4e-5);
    }
  }
}

}  // namespace soft_targets_test
}  // namespace mpitron::kernels
