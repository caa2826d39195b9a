#include "kernels/attention/rotary.h"
#include "tests/kernels/golden_tables.h"

namespace mpitron::kernels {
namespace reference_rotary_test {

device::ReferenceStream stream;

// A quarter turn: (a, b) -> (-b, a).
TEST(ReferenceRotary, QuarterTurn) {
  TestTensor cos(DType::f64, {1, 1}, {0}), sin(DType::f64, {1, 1}, {1});
  TestTensor halves(DType::f64, {1, 1, 1, 4}, {1, 2, 3, 4});
  run(stream, RotaryEmbedding{halves.view(), cos.view(), sin.view()});
  EXPECT_EQ(halves.values(), (std::vector<double>{-2, 1, 3, 4}));

  TestTensor cos2(DType::f64, {1, 2}, {0, 0}), sin2(DType::f64, {1, 2}, {1, 1});
  TestTensor wide(DType::f64, {1, 1, 1, 4}, {1, 2, 3, 4});
  run(stream, RotaryEmbedding{wide.view(), cos2.view(), sin2.view()});
  EXPECT_EQ(wide.values(), (std::vector<double>{-3, -4, 1, 2}));
  TestTensor pairs(DType::f64, {1, 1, 1, 4}, {1, 2, 3, 4});
  run(stream, RotaryEmbedding{pairs.view(), cos2.view(), sin2.view(), true});
  EXPECT_EQ(pairs.values(), (std::vector<double>{-2, 1, -4, 3}));
  run(stream, RotaryEmbedding{pairs.view(), cos2.view(), sin2.view(), true, true});
  EXPECT_EQ(pairs.values(), (std::vector<double>{1, 2, 3, 4}));
}

/// Base 10000; the recorded cases rotate positions 0, 1, ...
void fill_tables(TestTensor& cos, TestTensor& sin, Index positions, Index r) {
  for (Index s = 0; s < positions; ++s) {
    for (Index i = 0; i < r; ++i) {
      const double angle = static_cast<double>(s) *
                           std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(r));
      reference::Writer(cos.view()).set(std::cos(angle), s, i);
      reference::Writer(sin.view()).set(std::sin(angle), s, i);
    }
  }
}

TEST(ReferenceRotary, GoldenApplication) {
  const auto table = golden_table("rope");
  if (table.is_null()) {
    GTEST_SKIP() << "no " << test::golden_folder();
  }
  for (const auto& expected : table["apply"]) {
    const auto& x = expected["x_sbnd"];
    const auto extent = [](const nlohmann::json& list) { return static_cast<Index>(list.size()); };
    const Shape shape{extent(x), extent(x[0]), extent(x[0][0]), extent(x[0][0][0])};
    const Index r = expected["rotary_dim"].get<Index>() / 2;
    if (expected["multi_latent_attention"].get<bool>()) {
      continue;  // it also reorders the components: a layer's business
    }
    TestTensor rotated(DType::f64, shape, flatten(x)), cos(DType::f64, {shape[0], r});
    TestTensor sin(DType::f64, {shape[0], r});
    fill_tables(cos, sin, shape[0], r);
    const bool interleaved = expected["interleaved"];
    run(stream, RotaryEmbedding{rotated.view(), cos.view(), sin.view(), interleaved});
    expect_close(rotated.values(), flatten(expected["y_sbnd"]), 1e-6, 1);
  }
}

}  // namespace reference_rotary_test
}  // namespace mpitron::kernels
