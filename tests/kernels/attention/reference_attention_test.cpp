#include "kernels/attention/attention.h"
#include "tests/kernels/golden_tables.h"
#include "tests/kernels/gradient_check.h"

namespace mpitron::kernels {
namespace reference_attention_test {

device::ReferenceStream stream;

/// Grouped queries: s 3, s_kv 4, b 2, n 4, g 2, d 3, dv 2.
struct Fixture {
  TestTensor q{DType::f64, {3, 2, 4, 3}, test_values(72, 1)};
  TestTensor k{DType::f64, {4, 2, 2, 3}, test_values(48, 2)};
  TestTensor v{DType::f64, {4, 2, 2, 2}, test_values(32, 3)};
  TestTensor mask{DType::u8, {1, 3, 4}};
  TestTensor o{DType::f64, {3, 2, 4, 2}}, lse{DType::f64, {2, 4, 3}};
  TestTensor d_o{DType::f64, {3, 2, 4, 2}, test_values(48, 4)};
  TestTensor dq{DType::f64, {3, 2, 4, 3}}, dk{DType::f64, {4, 2, 2, 3}};
  TestTensor dv{DType::f64, {4, 2, 2, 2}};

  /// `together`: the second and third position see each other.
  void check(bool causal, Index window, bool masked, double dropout, bool together = false) {
    AttentionForward forward{q.view(), k.view(), v.view(), {}, o.view(), lse.view(),
                             {},       1,        true,     -1, {}};
    if (masked) {
      static_cast<std::uint8_t*>(mask.view().data)[1] = 1;
      forward.mask = mask.view();
    }
    TestTensor until(DType::i64, {1, 3}, {2, 2, 3});
    if (together) {
      forward.seen_until = until.view();
    }
    forward.scale = 0.5f;
    forward.causal = causal;
    forward.window = window;
    forward.dropout.threshold = dropout_threshold(dropout);
    const auto loss = [&] {
      run(stream, forward);
      return weighted_sum(o, d_o.values());
    };
    loss();
    AttentionBackward backward{q.view(),   k.view(),   v.view(),  forward.mask, o.view(),
                               lse.view(), d_o.view(), dq.view(), dk.view(),    dv.view(),
                               {},         0.5f,       causal,    window,       forward.dropout};
    backward.seen_until = forward.seen_until;
    run(stream, backward);
    expect_gradient(q, dq.values(), loss);
    expect_gradient(k, dk.values(), loss);
    expect_gradient(v, dv.values(), loss);
  }
};

TEST(ReferenceAttention, BackwardIsTheGradient) {
  Fixture().check(true, -1, false, 0);
  Fixture().check(false, -1, true, 0);
  Fixture().check(true, 1, false, 0);
  Fixture().check(true, -1, true, 0.5);
  Fixture().check(true, -1, false, 0, true);
  Fixture().check(true, 1, true, 0, true);
}

/// The first of two positions that see each other weighs both keys, as the second.
TEST(ReferenceAttention, PositionsThatSeeEachOther) {
  TestTensor q(DType::f64, {2, 1, 1, 1}, {1, 1}), k(DType::f64, {2, 1, 1, 1}, {0, std::log(3.0)});
  TestTensor v(DType::f64, {2, 1, 1, 1}, {4, 8}), o(DType::f64, {2, 1, 1, 1});
  TestTensor lse(DType::f64, {1, 1, 2}), until(DType::i64, {1, 2}, {1, 1});
  AttentionForward kernel{q.view(), k.view(), v.view(), {}, o.view(), lse.view(),
                          {},       1,        true,     -1, {}};
  kernel.seen_until = until.view();
  run(stream, kernel);
  expect_close(o.values(), {7, 7}, 1e-14);
}

TEST(ReferenceAttention, ByHand) {  // scores 0 and log 3 for the second query
  TestTensor q(DType::f64, {2, 1, 1, 1}, {1, 1}), k(DType::f64, {2, 1, 1, 1}, {0, std::log(3.0)});
  TestTensor v(DType::f64, {2, 1, 1, 1}, {4, 8}), o(DType::f64, {2, 1, 1, 1});
  TestTensor lse(DType::f64, {1, 1, 2});
  run(stream, AttentionForward{
                  q.view(), k.view(), v.view(), {}, o.view(), lse.view(), {}, 1, true, -1, {}});
  expect_close(o.values(), {4, 7}, 1e-14);
  expect_close(lse.values(), {0, std::log(4.0)}, 1e-14);
}

TEST(ReferenceAttention, ARowWithoutKeysIsZero) {
  TestTensor q(DType::f64, {1, 1, 1, 1}, {1}), k(DType::f64, {1, 1, 1, 1}, {1});
  TestTensor v(DType::f64, {1, 1, 1, 1}, {5}), o(DType::f64, {1, 1, 1, 1}, {9});
  TestTensor lse(DType::f64, {1, 1, 1}), mask(DType::u8, {1, 1, 1});
  static_cast<std::uint8_t*>(mask.view().data)[0] = 1;
  run(stream,
      AttentionForward{
          q.view(), k.view(), v.view(), mask.view(), o.view(), lse.view(), {}, 1, true, -1, {}});
  EXPECT_EQ(o.values()[0], 0);
  EXPECT_EQ(lse.values()[0], -std::numeric_limits<double>::infinity());
}

}  // namespace reference_attention_test
}  // namespace mpitron::kernels
