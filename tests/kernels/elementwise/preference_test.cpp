#include "kernels/elementwise/preference.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace preference_test {

TEST(Preference, MatchesReference) {
  for (const Shape& shape : {Shape{1, 2}, Shape{17, 5}}) {
    const Index b = shape[1];
    Workbench bench({1, 0});
    Twin &x = bench.input(DType::f32, shape), &weights = bench.input(DType::f32, shape);
    Twin& sums = bench.output(DType::f64, {b});
    bench.check(
        [&](Side side) {
          return WeightedColumnSums{x(side), weights(side), sums(side)};
        },
        1e-12);
    Twin &known = bench.input(DType::f64, {b}), &reference = bench.input(DType::f32, {b});
    Twin &loss = bench.output(DType::f32, {b}), &margin = bench.output(DType::f32, {b});
    Twin &right = bench.output(DType::f32, {b}), &slope = bench.output(DType::f32, {b});
    bench.check(
        [&](Side side) {
          return PreferenceForward{known(side), reference(side), loss(side), margin(side),
                                   right(side), slope(side),     0.3,        0.1};
        },
        1e-7);
    Twin &by = bench.input(DType::f32, {b}), &dloss = bench.input(DType::f32, {b});
    Twin& dx = bench.output(DType::f32, shape);
    bench.check(
        [&](Side side) {
          return PreferenceBackward{weights(side), by(side), dloss(side), dx(side), 2};
        },
        1e-6);
  }
}

}  // namespace preference_test
}  // namespace mpitron::kernels
