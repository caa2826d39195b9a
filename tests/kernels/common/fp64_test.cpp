#include "kernels/host/common/fp64.h"

#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matmul.h"
#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace fp64_test {

TEST(HostFp64, WhatRoutersUseWorksInDouble) {
  Workbench bench;
  Twin &a = bench.input(DType::f64, {5, 3}), &b = bench.input(DType::f64, {4, 3}),
       &half = bench.input(DType::bf16, {5, 3});
  Twin &c = bench.output(DType::f64, {5, 4}), &sum = bench.inout(DType::f32, {5, 3}),
       &wide = bench.output(DType::f64, {5, 3}), &ones = bench.output(DType::f64, {2});
  bench.check(
      [&](Side side) {
        return Matmul{.a = a(side), .b = b(side), .c = c(side), .transpose_b = true};
      },
      1e-15);
  bench.check([&](Side side) { return Add{sum(side), a(side), sum(side)}; }, 0);
  bench.check([&](Side side) { return Cast{half(side), wide(side)}; }, 0);
  bench.check([&](Side side) { return Fill{ones(side), 1}; }, 0);
}

struct Sizes {
  Index m, n, k;
};

/// Whole tiles and torn ones, one block of k and several, none.
TEST(HostFp64, ProductsOfAllShapesAreThoseOfTheReference) {
  for (const Sizes& s : {Sizes{64, 16, 128}, Sizes{67, 19, 131}, Sizes{3, 40, 300}, Sizes{1, 1, 1},
                         Sizes{130, 8, 33}, Sizes{5, 4, 0}}) {
    for (const bool accumulate : {false, true}) {
      for (const bool transpose : {false, true}) {
        Workbench bench({.offset = 1, .gap = 3});
        Twin& a = bench.input(DType::f64, transpose ? Shape{s.k, s.m} : Shape{s.m, s.k});
        Twin& b = bench.input(DType::f64, transpose ? Shape{s.k, s.n} : Shape{s.n, s.k});
        Twin& c =
            accumulate ? bench.inout(DType::f64, {s.m, s.n}) : bench.output(DType::f64, {s.m, s.n});
        bench.check(
            [&](Side side) {
              return Matmul{.a = a(side),
                            .b = b(side),
                            .c = c(side),
                            .transpose_a = transpose,
                            .transpose_b = !transpose,
                            .accumulate = accumulate};
            },
            1e-14);
      }
    }
  }
}

TEST(HostFp64, ConversionsRoundOnce) {
  for (const DType type : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    Workbench bench({.offset = 1, .gap = 3});
    Twin &wide = bench.input(DType::f64, {9, 33}), &x = bench.input(type, {9, 33});
    Twin &narrow = bench.output(type, {9, 33}), &back = bench.output(DType::f64, {9, 33});
    bench.check([&](Side side) { return Cast{wide(side), narrow(side)}; }, 0);
    bench.check([&](Side side) { return Cast{x(side), back(side)}; }, 0);
  }
}

/// Bits depend on the shape alone: a product of some of the rows is a part of that of all.
TEST(HostFp64, RowsDoNotDependOnOthers) {
  TestTensor a(DType::f64, {150, 200}, test_values(150 * 200, 1)),
      b(DType::f64, {200, 24}, test_values(200 * 24, 2));
  TestTensor all(DType::f64, {150, 24}), some(DType::f64, {150, 24});
  device::HostStream host;
  run(host, Matmul{.a = a.view(), .b = b.view(), .c = all.view()});
  run(host, Matmul{.a = device::slice(a.view(), 0, 70, 80),
                   .b = b.view(),
                   .c = device::slice(some.view(), 0, 70, 80)});
  for (Index i = 70 * 24; i < 80 * 24; ++i) {
    EXPECT_EQ(some.view().as<double>()[i], all.view().as<double>()[i]) << i;
  }
}

}  // namespace fp64_test
}  // namespace mpitron::kernels
