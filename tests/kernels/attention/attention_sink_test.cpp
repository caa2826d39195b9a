#include "kernels/attention/attention_sink.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace attention_sink_test {

constexpr double kTolerance = 2e-6;

TEST(AttentionSink, ForwardAsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const bool learned : {true, false}) {
      Workbench bench;
      Twin &o = bench.inout(type, {5, 2, 3, 17}), &lse = bench.inout(DType::f32, {2, 3, 5}, 4);
      Twin& sink = bench.input(type, {7}, 5);
      bench.check(
          [&](Side side) {
            return AttentionSinkForward{o(side), lse(side), learned ? In(sink(side)) : In{},
                                        learned ? 2 : 0};
          },
          kTolerance);
    }
  }
}

TEST(AttentionSink, BackwardAsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const bool accumulate : {true, false}) {
      Workbench bench;
      Twin &o = bench.input(type, {5, 2, 3, 17}), &d_o = bench.input(type, {5, 2, 3, 17});
      Twin &lse = bench.input(DType::f32, {2, 3, 5}, 4), &sink = bench.input(type, {7}, 2);
      Twin& dsink = bench.inout(DType::f32, {7});
      bench.check(
          [&](Side side) {
            return AttentionSinkBackward{o(side),     d_o(side), lse(side), sink(side),
                                         dsink(side), 2,         accumulate};
          },
          2e-5);
    }
  }
}

/// A logit of 0 beside a sum of probabilities of e^0 halves what attention gives.
TEST(AttentionSink, ZeroTakesItsShare) {
  TestTensor o(DType::f32, {1, 1, 1, 2}, {4, -2}), lse(DType::f32, {1, 1, 1}, {0});
  run_on_device(AttentionSinkForward{o.view(), lse.view(), {}});
  EXPECT_EQ(o.values(), (std::vector<double>{2, -1}));
  EXPECT_NEAR(lse.values()[0], std::log(2.0), 1e-6);
}

}  // namespace attention_sink_test
}  // namespace mpitron::kernels
