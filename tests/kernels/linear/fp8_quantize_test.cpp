#include "kernels/linear/fp8_quantize.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {

namespace fp8_quantize_test {

class Fp8QuantizeTest : public ::testing::TestWithParam<DType> {};

// The whole tensor; rows of 128 and their transpose; squares; columns; narrow ones.
constexpr Fp8Blocks kBlocks[] = {{0, 0}, {1, 128}, {128, 1}, {128, 128}, {0, 1}, {2, 3}};
const Shape kShapes[] = {{1, 1}, {3, 130}, {200, 257}, {129, 64}};

TEST_P(Fp8QuantizeTest, LargestValues) {
  for (const Shape& shape : kShapes) {
    for (const Fp8Blocks& blocks : kBlocks) {
      for (const Layout layout : kLayouts) {
        for (const bool accumulate : {false, true}) {
          Workbench bench(layout);
          Twin& x = bench.input(GetParam(), shape, 3e-3);
          Twin& amax =
              bench.inout(DType::f32, {blocks.down(shape[0]), blocks.across(shape[1])}, 4e-3);
          bench.check(
              [&](Side side) {
                return Fp8Amax{x(side), amax(side), {}, blocks, accumulate};
              },
              0);
        }
      }
    }
  }
}

TEST_P(Fp8QuantizeTest, EveryBlockFormatAndOrder) {
  for (const Shape& shape : kShapes) {
    for (const Fp8Blocks& blocks : kBlocks) {
      for (const Fp8Scaling scaling :
           {Fp8Scaling{}, Fp8Scaling{Fp8Format::e5m2, true}, Fp8Scaling{.margin = 1}}) {
        for (const bool transpose : {false, true}) {
          Workbench bench(kLayouts[transpose ? 1 : 0]);
          Twin& x = bench.input(GetParam(), shape, 3e-3);
          Twin& amax =
              bench.input(DType::f32, {blocks.down(shape[0]), blocks.across(shape[1])}, 4e-3);
          Twin& y = bench.output(DType::u8, transpose ? Shape{shape[1], shape[0]} : shape);
          bench.check(
              [&](Side side) {
                return Fp8Quantize{x(side), amax(side), y(side), blocks, scaling, transpose};
              },
              0);
        }
      }
    }
  }
}

TEST_P(Fp8QuantizeTest, ZerosFillTransposedRowsUp) {
  for (const Shape& shape : kShapes) {
    for (const Fp8Blocks& blocks : {Fp8Blocks{}, Fp8Blocks{128, 1}}) {
      Workbench bench(kLayouts[0]);
      Twin& x = bench.input(GetParam(), shape, 3e-3);
      Twin& amax = bench.input(DType::f32, {blocks.down(shape[0]), blocks.across(shape[1])}, 4e-3);
      Twin& y = bench.output(DType::u8, {shape[1], shape[0] + 13});
      bench.check(
          [&](Side side) { return Fp8Quantize{x(side), amax(side), y(side), blocks, {}, true}; },
          0);
      const std::vector<double> bits = y.sides[reference_side].values();
      for (std::size_t i = 0; i < bits.size(); ++i) {
        const Index column = static_cast<Index>(i) % (shape[0] + 13);
        EXPECT_TRUE(column < shape[0] || bits[i] == 0) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Fp8QuantizeTest, ::testing::ValuesIn(kTrainingTypes),
                         [](const auto& info) { return name_of(info.param); });

using Numbers = std::vector<double>;

/// What the reference and the tested device make of histories of `steps` steps.
void expect_advanced(Index steps, const Numbers& rows, const Numbers& amax, bool largest,
                     const Numbers& expected) {
  const auto tensors = static_cast<Index>(amax.size());
  const auto advance = [&](auto&& run_kernel) {
    TestTensor history(DType::f32, {tensors, steps}, rows), newest(DType::f32, {tensors}, amax);
    run_kernel(Fp8HistoryUpdate{history.view(), newest.view(), largest});
    EXPECT_EQ(history.values(), expected);
    EXPECT_EQ(newest.values(), Numbers(amax.size(), 0));
  };
  advance([](const Fp8HistoryUpdate& kernel) {
    device::ReferenceStream reference;
    run(reference, kernel);
  });
  advance([](const Fp8HistoryUpdate& kernel) { run_on_device(kernel); });
}

TEST(Fp8History, TheNewestCountsAndTheRestMovesOn) {
  expect_advanced(3, {9, 5, 7, 9, 0, 4}, {1, 2}, false, {1, 1, 5, 2, 2, 0});
}

TEST(Fp8History, TheLargestCounts) {
  expect_advanced(3, {9, 5, 7, 9, 6, 7}, {1, 8}, true, {7, 1, 5, 8, 8, 6});
}

TEST(Fp8History, AStepWithoutValuesKeepsTheScale) {
  expect_advanced(1, {9, 4}, {0, 3}, false, {9, 3});
  expect_advanced(2, {9, 0}, {0}, true, {9, 0});
}

}  // namespace fp8_quantize_test

}  // namespace mpitron::kernels
