#include "kernels/elementwise/dropout.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace dropout_test {

constexpr double kTolerance = 3e-7;  // two additions and a product

struct Types {
  DType x, y;
};
constexpr Types kTypes[] = {{DType::f32, DType::f32},
                            {DType::bf16, DType::bf16},
                            {DType::f16, DType::f16},
                            {DType::bf16, DType::f32},
                            {DType::f16, DType::f32}};

DropoutMask mask_at(double probability, Index column_offset) {
  DropoutMask mask;
  mask.key = {17, 42};
  mask.threshold = dropout_threshold(probability);
  mask.index.sequence.split = 2;
  mask.index.sequence.offset[0] = 5;
  mask.index.sequence.offset[1] = 100;
  mask.index.sample_offset = (Index{1} << 33) + 7;
  mask.index.sample_stride = 3;
  mask.index.column_offset = column_offset;
  return mask;
}

template <class F>
void for_cases(F&& f) {
  for (const Types& types : kTypes) {
    for (const Index h : {1, 17, 65, 130, 300, 1000}) {
      for (const Index column_offset : {0, 48, 7}) {
        for (const double probability : {0.0, 0.1, 0.7}) {
          SCOPED_TRACE(::testing::Message() << name_of(types.x) << " " << name_of(types.y) << " h "
                                            << h << " from " << column_offset);
          f(types, h, mask_at(probability, column_offset));
        }
      }
    }
  }
}

TEST(Dropout, BiasDropoutAdd) {
  for_cases([](const Types& types, Index h, const DropoutMask& mask) {
    Workbench bench(h % 4 == 0 ? Layout{} : Layout{1, 3});
    Twin &x = bench.input(types.x, {8, h}), &bias = bench.input(types.x, {h});
    Twin &residual = bench.input(types.y, {8, h}), &y = bench.output(types.y, {8, h});
    bench.check(
        [&](Side side) {
          return BiasDropoutAddForward{x(side), bias(side), residual(side), y(side), 2, mask};
        },
        kTolerance);
  });
}

TEST(Dropout, InPlaceWithoutBiasOrResidual) {
  for_cases([](const Types& types, Index h, const DropoutMask& mask) {
    Workbench bench;
    Twin& y = bench.inout(types.x, {8, h});
    bench.check([&](Side side) { return BiasDropoutAddForward{y(side), {}, {}, y(side), 2, mask}; },
                kTolerance);
  });
}

TEST(Dropout, Backward) {
  for_cases([](const Types& types, Index h, const DropoutMask& mask) {
    Workbench bench(h % 4 == 0 ? Layout{} : Layout{1, 3});
    Twin &dy = bench.input(types.y, {8, h}), &dx = bench.output(types.x, {8, h});
    bench.check(
        [&](Side side) {
          return DropoutBackward{dy(side), dx(side), 2, mask};
        },
        kTolerance);
  });
}

}  // namespace dropout_test
}  // namespace mpitron::kernels
