#include "ops/linear/parallel_linear.h"

#include "ops/gradient_ranks.h"

namespace mpitron::ops {
namespace parallel_linear_test {

constexpr Index kS = 4, kIn = 6, kOut = 8;  // kS rows of the sequence, b = 1

/// Inputs of the whole layer, and what one rank makes of them.
struct Layer {
  std::vector<double> x = test::test_values(kS * kIn, 1), w = test::test_values(kOut * kIn, 2),
                      bias = test::test_values(kOut, 3), dy = test::test_values(kS * kOut, 4);
  std::vector<double> y, dx, dw, dbias;
};

Parameter parameter(TestRank& rank, const Shape& shape, const std::vector<double>& values) {
  Parameter p;
  p.name = "p", p.shape = shape;
  p.value = rank.tensor(shape, values);
  p.sink.main_grad = Tensor::empty(rank.device, shape, DType::f64);
  return p;
}

Layer alone() {
  Layer layer;
  on_ranks(1, [&](TestRank& rank) {
    Parameter w = parameter(rank, {kOut, kIn}, layer.w), bias = parameter(rank, {kOut}, layer.bias);
    const Var x = autograd::variable(rank.tensor({kS, 1, kIn}, layer.x));
    const Var y = linear(rank.context, x, w, &bias);
    layer.y = test::values_of(y.value);
    rank.backward(y, rank.tensor({kS, 1, kOut}, layer.dy));
    layer.dx = test::values_of(x.slot.gradient());
    layer.dw = test::values_of(w.sink.main_grad);
    layer.dbias = test::values_of(bias.sink.main_grad);
  });
  return layer;
}

class ParallelLinear : public ::testing::TestWithParam<std::tuple<Index, bool, bool>> {
 protected:
  TensorParallel shared(TestRank& rank) const {
    return {&rank.group, std::get<1>(GetParam()), std::get<2>(GetParam())};
  }
  /// This rank's rows of the sequence.
  Block rows(TestRank& rank, Index columns) const {
    const Index n = std::get<1>(GetParam()) ? kS / rank.size() : kS;
    const Index begin = std::get<1>(GetParam()) ? rank.rank() * n : 0;
    return {begin, begin + n, 0, columns};
  }
  void run(const std::function<void(TestRank&)>& body) { on_ranks(std::get<0>(GetParam()), body); }
  const Layer whole_ = alone();
};

TEST_P(ParallelLinear, ColumnsAreTheRowsOfOneRanksLayer) {
  run([&](TestRank& rank) {
    const Index out = kOut / rank.size(), first = rank.rank() * out;
    const Block of_weight{first, first + out, 0, kIn}, of_out{0, kS, first, first + out};
    Parameter w = parameter(rank, {out, kIn}, block_of(whole_.w, kIn, of_weight));
    Parameter bias = parameter(rank, {out}, block_of(whole_.bias, 1, {first, first + out, 0, 1}));
    const Block mine = rows(rank, kIn);
    const Var x = autograd::variable(
        rank.tensor({mine.end - mine.begin, 1, kIn}, block_of(whole_.x, kIn, mine)));
    const Var y = column_parallel_linear(rank.context, x, w, &bias, shared(rank));
    EXPECT_EQ(y.shape(), (Shape{kS, 1, out}));
    expect_near(test::values_of(y.value), block_of(whole_.y, kOut, of_out));
    rank.backward(y, rank.tensor({kS, 1, out}, block_of(whole_.dy, kOut, of_out)));
    expect_near(test::values_of(x.slot.gradient()), block_of(whole_.dx, kIn, mine));
    expect_near(test::values_of(w.sink.main_grad), block_of(whole_.dw, kIn, of_weight));
    expect_near(test::values_of(bias.sink.main_grad),
                block_of(whole_.dbias, 1, {first, first + out, 0, 1}));
  });
}

TEST_P(ParallelLinear, RowsAreTheColumnsOfOneRanksLayer) {
  run([&](TestRank& rank) {
    const Index in = kIn / rank.size(), first = rank.rank() * in;
    const Block of_weight{0, kOut, first, first + in}, of_x{0, kS, first, first + in};
    Parameter w = parameter(rank, {kOut, in}, block_of(whole_.w, kIn, of_weight));
    const Var x = autograd::variable(rank.tensor({kS, 1, in}, block_of(whole_.x, kIn, of_x)));
    const Var y = row_parallel_linear(rank.context, x, w, shared(rank));
    const Block mine = rows(rank, kOut);
    std::vector<double> expected = block_of(whole_.y, kOut, mine);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] -= whole_.bias[i % kOut];  // the caller's
    }
    expect_near(test::values_of(y.value), expected);
    rank.backward(y, rank.tensor(y.shape(), block_of(whole_.dy, kOut, mine)));
    expect_near(test::values_of(x.slot.gradient()), block_of(whole_.dx, kIn, of_x));
    expect_near(test::values_of(w.sink.main_grad), block_of(whole_.dw, kIn, of_weight));
  });
}

/// A frozen input (no slot) still gives the weight its gradient, and no rank waits for a sum.
TEST_P(ParallelLinear, AnInputWithoutAGradientNeedsNoSum) {
  run([&](TestRank& rank) {
    const Index out = kOut / rank.size(), first = rank.rank() * out;
    const Block of_weight{first, first + out, 0, kIn}, mine = rows(rank, kIn);
    Parameter w = parameter(rank, {out, kIn}, block_of(whole_.w, kIn, of_weight));
    const Var x = autograd::constant(
        rank.tensor({mine.end - mine.begin, 1, kIn}, block_of(whole_.x, kIn, mine)));
    const Var y = column_parallel_linear(rank.context, x, w, nullptr, shared(rank));
    rank.backward(
        y, rank.tensor({kS, 1, out}, block_of(whole_.dy, kOut, {0, kS, first, first + out})));
    expect_near(test::values_of(w.sink.main_grad), block_of(whole_.dw, kIn, of_weight));
  });
}

INSTANTIATE_TEST_SUITE_P(Layouts, ParallelLinear,
                         ::testing::Values(std::tuple{1, false, false}, std::tuple{2, false, false},
                                           std::tuple{2, true, false}, std::tuple{2, true, true}));

}  // namespace parallel_linear_test
}  // namespace mpitron::ops
