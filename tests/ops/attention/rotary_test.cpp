#include "ops/attention/rotary.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace rotary_test {

constexpr QkvLayout kLayout{.heads = 4, .query_groups = 2, .head_dim = 6};

class RotaryTest : public GradientCheck {
 protected:
  /// Angles (position + 1) * (i + 1) / 2 for the first four of six components.
  RotaryTables tables(bool interleaved) {
    RotaryTables result{.cos = Tensor::empty(*device_, {3, 2}, DType::f64),
                        .sin = Tensor::empty(*device_, {3, 2}, DType::f64),
                        .interleaved = interleaved};
    for (Index i = 0; i < 6; ++i) {
      const double angle = static_cast<double>((i / 2 + 1) * (i % 2 + 1)) / 2;
      result.cos.data<double>()[i] = std::cos(angle);
      result.sin.data<double>()[i] = std::sin(angle);
    }
    return result;
  }
};

TEST_F(RotaryTest, BackwardIsTheGradientInBothLayouts) {
  for (const bool interleaved : {false, true}) {
    const RotaryTables rotation = tables(interleaved);
    expect_gradients({random({3, 2, kLayout.width()})},
                     [&](Context& context, const std::vector<Var>& x) {
                       return rotary(context, x[0], kLayout, rotation);
                     });
  }
}

/// Two samples, each at positions of its own.
TEST_F(RotaryTest, SamplesStandAtTheirOwnPositions) {
  const RotaryTables each = tables(false);
  const Tensor places = Tensor::empty(*device_, {2, 6}, DType::i64);
  const std::int64_t rows[] = {0, 2, 1, 1, 2, 0, 0, 1, 1, 2, 0, 0};
  std::copy(std::begin(rows), std::end(rows), places.data<std::int64_t>());
  Context cx = context();
  const RotaryTables turned = rotary_rows(cx, each, places, std::vector<Index>{1, 1});
  ASSERT_EQ(turned.cos.shape(), (Shape{6, 2}));
  for (Index i = 0; i < 6; ++i) {
    for (Index axis = 0; axis < 2; ++axis) {
      EXPECT_EQ(turned.sin.data<double>()[2 * i + axis],
                each.sin.data<double>()[2 * rows[6 * axis + i] + axis]);
    }
  }
  expect_gradients({random({3, 2, kLayout.width()})},
                   [&](Context& context, const std::vector<Var>& x) {
                     return rotary(context, x[0], kLayout, turned);
                   });
  // The second sample alone, by its rows of the tables, turns as beside the first one.
  const Tensor both = random({3, 2, kLayout.width()}),
               own = Tensor::empty(*device_, {3, 1, kLayout.width()}, DType::f64);
  RotaryTables second = tables(false);
  for (Index i = 0; i < 3; ++i) {
    std::copy_n(both.data<double>() + (2 * i + 1) * kLayout.width(), kLayout.width(),
                own.data<double>() + i * kLayout.width());
    std::copy_n(turned.cos.data<double>() + (2 * i + 1) * 2, 2, second.cos.data<double>() + 2 * i);
    std::copy_n(turned.sin.data<double>() + (2 * i + 1) * 2, 2, second.sin.data<double>() + 2 * i);
  }
  const std::vector<double> together =
      test::values_of(rotary(cx, autograd::variable(both), kLayout, turned).value);
  const std::vector<double> alone =
      test::values_of(rotary(cx, autograd::variable(own), kLayout, second).value);
  for (Index i = 0; i < 3 * kLayout.width(); ++i) {
    const Index w = kLayout.width(), at = (2 * (i / w) + 1) * w + i % w;
    EXPECT_EQ(together[static_cast<std::size_t>(at)], alone[static_cast<std::size_t>(i)]);
  }
}

TEST_F(RotaryTest, RotatesQueriesAndKeysInPlaceAndLeavesValuesAndTheRest) {
  const Tensor qkv = random({3, 1, kLayout.width()});
  const std::vector<double> before = test::values_of(qkv);
  const RotaryTables rotation = tables(false);
  Context cx = context();
  const Var y = rotary(cx, autograd::variable(qkv), kLayout, rotation);
  EXPECT_EQ(y.value.view().data, qkv.view().data);
  const std::vector<double> after = test::values_of(y.value);
  for (std::size_t at = 0; at < before.size(); ++at) {
    const std::size_t head = at / 6 % 8, component = at % 6;
    const bool rotated = head % 4 != 3 && component < 4;
    EXPECT_EQ(after[at] != before[at], rotated) << "element " << at;
  }
  // Position 0, head 0, the pair (0, 2).
  const double cos = std::cos(0.5), sin = std::sin(0.5);
  EXPECT_NEAR(after[0], before[0] * cos - before[2] * sin, 1e-12);
  EXPECT_NEAR(after[2], before[2] * cos + before[0] * sin, 1e-12);
}

}  // namespace rotary_test
}  // namespace mpitron::ops
