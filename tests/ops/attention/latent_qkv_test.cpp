#include "ops/attention/latent_qkv.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace latent_qkv_test {

constexpr LatentHeads kHeads{.heads = 2, .plain = 3, .rotary = 4, .value = 5};

class LatentQkvTest : public GradientCheck {
 protected:
  /// Angles (position + 1) * (i + 1) / 2; `pairs` of the two rotate.
  RotaryTables tables(Index pairs) {
    RotaryTables result{.cos = Tensor::empty(*device_, {3, pairs}, DType::f64),
                        .sin = Tensor::empty(*device_, {3, pairs}, DType::f64)};
    for (Index i = 0; i < 3 * pairs; ++i) {
      const double angle = static_cast<double>((i / pairs + 1) * (i % pairs + 1)) / 2;
      result.cos.data<double>()[i] = std::cos(angle);
      result.sin.data<double>()[i] = std::sin(angle);
    }
    return result;
  }
  std::vector<Tensor> inputs() {
    return {random({3, 2, 2 * 7}), random({3, 2, 2 * 8}), random({3, 2, 4})};
  }
};

TEST_F(LatentQkvTest, BackwardIsTheGradient) {
  for (const auto& rotation :
       {std::optional<RotaryTables>(), std::optional(tables(1)), std::optional(tables(2))}) {
    expect_gradients(inputs(), [&](Context& context, const std::vector<Var>& x) {
      return latent_qkv(context, {x[0], x[1], x[2]}, kHeads, rotation);
    });
  }
}

TEST_F(LatentQkvTest, HeadsHoldQueryKeyAndValue) {
  const std::vector<Tensor> in = inputs();
  const auto q = test::values_of(in[0]), kv = test::values_of(in[1]),
             shared = test::values_of(in[2]);
  Context cx = context();
  const Var fused = latent_qkv(
      cx, {autograd::constant(in[0]), autograd::constant(in[1]), autograd::constant(in[2])}, kHeads,
      {});
  EXPECT_EQ(fused.shape()[2], kHeads.layout().width());
  const auto values = test::values_of(fused.value);
  const std::size_t row = 3, head = 1, at = row * 38 + head * 19;  // s = 1, b = 1
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(values[at + i], q[row * 14 + head * 7 + i]);
    EXPECT_EQ(values[at + 7 + i], i < 3 ? kv[row * 16 + head * 8 + i] : shared[row * 4 + i - 3]);
  }
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(values[at + 14 + i], kv[row * 16 + head * 8 + 3 + i]);
  }
}

/// The reference sorts the components into even and odd ones before it rotates halves: the same
/// components, in another order.
TEST_F(LatentQkvTest, NeighboursRotate) {
  const std::vector<Tensor> in = inputs();
  const auto shared = test::values_of(in[2]);
  Context cx = context();
  const Var fused = latent_qkv(
      cx, {autograd::constant(in[0]), autograd::constant(in[1]), autograd::constant(in[2])}, kHeads,
      tables(2));
  const auto values = test::values_of(fused.value);
  const std::size_t row = 5;  // s = 2: angles 1.5 and 3
  for (const std::size_t head : {0, 1}) {
    const std::size_t at = row * 38 + head * 19 + 10;
    for (const std::size_t pair : {0, 1}) {
      const double angle = pair == 0 ? 1.5 : 3, a = shared[row * 4 + 2 * pair],
                   b = shared[row * 4 + 2 * pair + 1];
      EXPECT_NEAR(values[at + 2 * pair], a * std::cos(angle) - b * std::sin(angle), 1e-12);
      EXPECT_NEAR(values[at + 2 * pair + 1], b * std::cos(angle) + a * std::sin(angle), 1e-12);
    }
  }
}

}  // namespace latent_qkv_test
}  // namespace mpitron::ops
