#include <cmath>

#include <gtest/gtest.h>

#include "kernels/linear/fp8_quantize.h"
#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels {
namespace reference_fp8_quantize_test {

using Numbers = std::vector<double>;

device::ReferenceStream stream;

TEST(ReferenceFp8Amax, OfTheWholeAndOfBlocks) {
  TestTensor x(DType::f32, {2, 3}, {1, -7, 2, 3, NAN, -INFINITY});
  TestTensor whole(DType::f32, {1, 1}, {5}), blocks(DType::f32, {2, 2});
  run(stream, Fp8Amax{.x = x.view(), .amax = whole.view(), .workspace = {}});
  EXPECT_EQ(whole.values(), Numbers{7});
  run(stream, Fp8Amax{x.view(), blocks.view(), {}, {1, 2}});
  EXPECT_EQ(blocks.values(), (Numbers{7, 2, 3, 0}));
}

TEST(ReferenceFp8Amax, AccumulatesTheLarger) {
  TestTensor x(DType::f32, {1, 2}, {1, -7}), small(DType::f32, {1, 1}, {5}),
      large(DType::f32, {1, 1}, {9});
  run(stream, Fp8Amax{x.view(), small.view(), {}, {}, true});
  run(stream, Fp8Amax{x.view(), large.view(), {}, {}, true});
  EXPECT_EQ(small.values(), Numbers{7});
  EXPECT_EQ(large.values(), Numbers{9});
}

Numbers numbers_of(TestTensor& bits, Fp8Format format) {
  Numbers numbers;
  for (const double value : bits.values()) {
    numbers.push_back(static_cast<double>(from_fp8(static_cast<std::uint8_t>(value), format)));
  }
  return numbers;
}

TEST(ReferenceFp8Quantize, EachBlockHasItsScale) {
  // 448 / 2 = 224 and 448 / 224 = 2.
  TestTensor x(DType::f32, {2, 2}, {2, -1, 224, 3.1}), amax(DType::f32, {2, 1}, {2, 224}),
      y(DType::u8, {2, 2});
  run(stream, Fp8Quantize{x.view(), amax.view(), y.view(), {1, 0}, {}});
  EXPECT_EQ(numbers_of(y, Fp8Format::e4m3), (Numbers{448, -224, 448, 6}));
}

TEST(ReferenceFp8Quantize, Transposes) {
  TestTensor x(DType::f32, {1, 2}, {1, -0.5}), amax(DType::f32, {1, 1}, {0}), y(DType::u8, {2, 1});
  run(stream, Fp8Quantize{x.view(), amax.view(), y.view(), {}, {Fp8Format::e5m2}, true});
  EXPECT_EQ(numbers_of(y, Fp8Format::e5m2), (Numbers{1, -0.5}));
}

}  // namespace reference_fp8_quantize_test
}  // namespace mpitron::kernels
