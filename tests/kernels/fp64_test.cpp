#include "kernels/host/fp64.h"

#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "tests/kernels/host_check.h"

namespace mpitron::kernels {
namespace {

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
      0);
  bench.check([&](Side side) { return Add{sum(side), a(side), sum(side)}; }, 0);
  bench.check([&](Side side) { return Cast{half(side), wide(side)}; }, 0);
  bench.check([&](Side side) { return Fill{ones(side), 1}; }, 0);
}

}  // namespace
}  // namespace mpitron::kernels
