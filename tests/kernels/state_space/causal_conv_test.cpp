#include "kernels/state_space/causal_conv.h"

#include "tests/kernels/state_space/documents.h"
#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace causal_conv_test {

// Sums of a few products, and the sigmoid's error.
constexpr double kTolerance = 2e-6;
constexpr double kSumTolerance = 1e-5;

template <class F>
void for_cases(F&& f) {
  for (const DType type : kTrainingTypes) {
    for (const Index length : {1, 3, 37}) {
      for (const Index channels : {1, 17, 130}) {
        SCOPED_TRACE(::testing::Message() << name_of(type) << " " << length << " x " << channels);
        for (const Layout layout : kLayouts) {
          for (const Index document : {0, 5, 20}) {
            f(layout, type, Shape{length, 2, channels}, document);
          }
        }
      }
    }
  }
}

TEST(CausalConv, ForwardAsTheReference) {
  for_cases([](Layout layout, DType type, const Shape& shape, Index document) {
    TestTensor starts = document_starts(shape[0], document);
    Workbench bench(layout);
    Twin &x = bench.input(type, shape, 2), &y = bench.output(type, shape);
    Workbench parameters;
    const Index c = shape[2];
    TestTensor weight(type, {c, 1, 4}, test_values(4 * c, 7)), bias(type, {c}, test_values(c, 8));
    bench.check(
        [&](Side side) {
          return CausalConvForward{x(side), weight.view(), bias.view(),
                                   starts_view(starts, document), y(side)};
        },
        kTolerance);
  });
}

TEST(CausalConv, BackwardAsTheReference) {
  for_cases([](Layout layout, DType type, const Shape& shape, Index document) {
    TestTensor starts = document_starts(shape[0], document);
    const Index c = shape[2];
    for (const bool biased : {true, false}) {
      Workbench bench(layout);
      Twin &x = bench.input(type, shape, 2), &dy = bench.input(type, shape);
      Twin& dx = bench.output(type, shape);
      Twin& dbias = biased ? bench.inout(DType::f32, {c}) : bench.input(DType::f32, {c});
      TestTensor weight(type, {c, 1, 4}, test_values(4 * c, 7)), bias(type, {c}, test_values(c, 8));
      TestTensor sums[] = {TestTensor(DType::f32, {c, 1, 4}, test_values(4 * c, 9)),
                           TestTensor(DType::f32, {c, 1, 4}, test_values(4 * c, 9))};
      bench.check(
          [&](Side side) {
            return CausalConvBackward{x(side),
                                      dy(side),
                                      weight.view(),
                                      biased ? In(bias.view()) : In{},
                                      starts_view(starts, document),
                                      dx(side),
                                      sums[side].view(),
                                      biased ? InOut(dbias(side)) : InOut{},
                                      true,
                                      true};
          },
          kSumTolerance);
      const std::vector<double> want = sums[0].values(), got = sums[1].values();
      for (std::size_t i = 0; i < want.size(); ++i) {
        EXPECT_NEAR(got[i], want[i], 1e-4 + 1e-4 * std::abs(want[i]));
      }
    }
  });
}

/// Results of 4 MiB and more go past the caches, in another order.
TEST(CausalConv, LargeResultsAreTheSame) {
  const Shape shape{2051, 1, 1088};
  const Index c = shape[2];
  for (const DType type : {DType::f32, DType::bf16}) {
    TestTensor weight(type, {c, 1, 4}, test_values(4 * c, 7));
    TestTensor sums(DType::f32, {c, 1, 4});
    Workbench forward, backward;
    Twin &x = forward.input(type, shape, 2), &y = forward.output(type, shape);
    forward.check(
        [&](Side side) {
          return CausalConvForward{x(side), weight.view(), {}, {}, y(side)};
        },
        kTolerance);
    Twin &dy = backward.input(type, shape), &dx = backward.output(type, shape);
    backward.check(
        [&](Side side) {
          return CausalConvBackward{x(side), dy(side), weight.view(), {},
                                    {},      dx(side), {sums.view()}, {}};
        },
        kTolerance);
  }
}

/// A tap on the position itself and one on that before it.
TEST(CausalConv, SeesNoLaterPosition) {
  TestTensor x(DType::f32, {3, 1, 1}, {10, 20, 30}), weight(DType::f32, {1, 1, 2}, {100, 1});
  TestTensor y(DType::f32, {3, 1, 1});
  run_on_device(CausalConvForward{x.view(), weight.view(), {}, {}, y.view()});
  EXPECT_NEAR(y.values()[0], 10, 1e-3);
  EXPECT_NEAR(y.values()[1], 1020, 1e-3);
  EXPECT_NEAR(y.values()[2], 2030, 1e-3);
}

}  // namespace causal_conv_test
}  // namespace mpitron::kernels
