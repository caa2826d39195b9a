#include "kernels/elementwise/sigmoid_gate.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace sigmoid_gate_test {

constexpr double kTolerance = 2e-6;

template <class F>
void for_cases(F&& f) {
  for (const DType type : kTrainingTypes) {
    for (const Index width : kOddSizes) {
      for (const Layout layout : kLayouts) {
        SCOPED_TRACE(::testing::Message() << name_of(type) << " width " << width);
        Workbench bench(layout);
        f(bench, type, width);
      }
    }
  }
}

TEST(SigmoidGate, ForwardAsTheReference) {
  for_cases([](Workbench& bench, DType type, Index width) {
    Twin &x = bench.input(type, {5, width}), &gate = bench.input(type, {5, width}, 6);
    Twin& y = bench.output(type, {5, width});
    bench.check(
        [&](Side side) {
          return SigmoidGateForward{x(side), gate(side), y(side)};
        },
        kTolerance);
  });
}

TEST(SigmoidGate, BackwardAsTheReference) {
  for_cases([](Workbench& bench, DType type, Index width) {
    Twin &x = bench.input(type, {5, width}), &gate = bench.input(type, {5, width}, 6);
    Twin &dx = bench.inout(type, {5, width}), &dgate = bench.output(type, {5, width});
    bench.check(
        [&](Side side) {  // in place of the gradient of y
          return SigmoidGateBackward{x(side), gate(side), dx(side), dx(side), dgate(side)};
        },
        kTolerance);
  });
}

}  // namespace sigmoid_gate_test
}  // namespace mpitron::kernels
