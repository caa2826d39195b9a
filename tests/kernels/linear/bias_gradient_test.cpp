#include "kernels/linear/matmul.h"
#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace bias_gradient_test {

/// 300 fp32 additions of numbers up to 1, relative to sums of about 10.
constexpr double kTolerance = 2e-6;

TEST(BiasGradient, IsTheReferencesInEveryTypeAndLayout) {
  for (const DType type : kTrainingTypes) {
    for (const DType to : {DType::f32, type}) {
      for (const Layout& layout : kLayouts) {
        for (const Index n : {1, 15, 17, 64, 65, 2047, 2050}) {  // around a chunk of columns
          for (const bool accumulate : {false, true}) {
            SCOPED_TRACE(::testing::Message() << name_of(type) << " n " << n << " " << accumulate);
            Workbench bench(layout);
            Twin &dy = bench.input(type, {129, n}), &db = bench.inout(to, {n}, 5);
            bench.check(
                [&](Side side) {
                  return BiasGradient{dy(side), db(side), {}, accumulate};
                },
                kTolerance);
          }
        }
      }
    }
  }
}

TEST(BiasGradient, AnyNumberOfRows) {
  for (const Index rows : {1, 7, 8, 9, 127, 128, 129, 300}) {  // around eight rows and a block
    Workbench bench({1, 3});
    Twin &dy = bench.input(DType::f32, {rows, 33}), &db = bench.output(DType::f32, {33});
    bench.check([&](Side side) { return BiasGradient{dy(side), db(side), {}, false}; }, kTolerance);
  }
}

TEST(BiasGradient, RowsOfSeveralDimensions) {
  Workbench bench({1, 3});
  Twin &dy = bench.input(DType::bf16, {5, 3, 40}), &db = bench.output(DType::f32, {40});
  bench.check([&](Side side) { return BiasGradient{dy(side), db(side), {}, false}; }, kTolerance);
}

std::vector<double> gradient_of(const device::TensorView& dy) {
  TestTensor db(DType::f32, {dy.size(1)});
  run_on_device(BiasGradient{dy, db.view(), {}, false});
  return db.values();
}

// The whole runs on all threads, a piece of it is small enough for one.
TEST(BiasGradient, BitsOfAColumnAreItsOwn) {
  constexpr Index kWidth = 1000, kPiece = 100;
  TestTensor dy(DType::f32, {300, kWidth}, test_values(300 * kWidth, 1));
  const std::vector<double> whole = gradient_of(dy.view());
  for (Index first = 0; first < kWidth; first += kPiece) {
    const auto piece = gradient_of(slice(dy.view(), 1, first, first + kPiece));
    for (Index i = 0; i < kPiece; ++i) {
      EXPECT_EQ(piece[static_cast<std::size_t>(i)], whole[static_cast<std::size_t>(first + i)]);
    }
  }
}

}  // namespace bias_gradient_test
}  // namespace mpitron::kernels
