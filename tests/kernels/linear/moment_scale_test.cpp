#include "kernels/linear/moment_scale.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace moment_scale_test {

TEST(MomentScale, MatchesReference) {
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 130}, Shape{70, 65}}) {
    for (const bool columns : {false, true}) {
      Workbench bench({0, 0});
      Twin &x = bench.input(DType::f32, shape), &y = bench.output(DType::f32, shape);
      const Shape lines{shape[columns ? 1 : 0]};
      Twin& moments = bench.output(DType::f32, lines);
      moments.fill(std::vector<double>(static_cast<std::size_t>(lines.numel()), 0.5));
      bench.check(
          [&](Side side) {
            return MomentScale{x(side), moments(side), y(side), 0.75, 1e-8, columns};
          },
          1e-6);
    }
  }
}

/// A line of zeros whose average is zero stays one.
TEST(MomentScale, DividesByNoZero) {
  Workbench bench({0, 0});
  Twin &x = bench.input(DType::f32, {1, 2}), &y = bench.output(DType::f32, {1, 2});
  Twin& moments = bench.output(DType::f32, {1});
  x.fill({0, 0}), moments.fill({0});
  bench.check([&](Side side) { return MomentScale{x(side), moments(side), y(side)}; }, 0);
  EXPECT_EQ(y.sides[tested_side].values(), (std::vector<double>{0, 0}));
}

}  // namespace moment_scale_test
}  // namespace mpitron::kernels
