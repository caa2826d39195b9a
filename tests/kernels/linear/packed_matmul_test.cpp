#include "kernels/linear/packed_matmul.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace packed_matmul_test {

constexpr double kTolerance = 3e-6;

TEST(PackedMatmul, PacksAsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const DType packed_type : kTrainingTypes) {
      for (const Index n : {1, 16, 37}) {
        Workbench bench({0, 3});
        Twin& weight = bench.input(type, {n, 21});
        Twin& packed = bench.output(packed_type, {packed_elements(n, 21)});
        bench.check([&](Side side) { return PackWeight{weight(side), packed(side)}; }, 1e-7);
      }
    }
  }
}

TEST(PackedMatmul, MultipliesAsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const DType packed_type : kTrainingTypes) {
      for (const Index n : {5, 64, 131}) {
        for (const Index m : {1, 2, 3, 4, 5, 6, 7, 8, 19}) {
          SCOPED_TRACE(::testing::Message() << name_of(type) << " by " << name_of(packed_type)
                                            << " m " << m << " n " << n);
          Workbench bench({0, 2});
          Twin& x = bench.input(type, {m, 45});
          Twin& packed = bench.input(packed_type, {packed_elements(n, 45)});
          Twin &bias = bench.input(packed_type, {n}), &y = bench.output(type, {m, n});
          std::vector<float> scratch(static_cast<std::size_t>(m * 45));
          const device::TensorView workspace(scratch.data(), DType::f32, {m * 45});
          bench.check(
              [&](Side side) {
                return PackedMatmul{x(side), packed(side), m == 2 ? In{} : In(bias(side)), y(side),
                                    workspace};
              },
              kTolerance);
        }
      }
    }
  }
}

TEST(PackedMatmul, ARowsBitsDoNotDependOnTheOthers) {
  const Index m = 27, n = 100, k = 64;
  TestTensor x(DType::f32, {m, k}, test_values(m * k, 1));
  TestTensor packed(DType::bf16, {packed_elements(n, k)}, test_values(packed_elements(n, k), 2));
  const auto product = [&](Index first, Index rows) {
    TestTensor y(DType::f32, {rows, n}, std::vector<double>(std::size_t(rows * n), 0.0));
    const In view(x.view().as<float>() + first * k, DType::f32, {rows, k});
    run_on_device(PackedMatmul{view, packed.view(), {}, y.view(), {}});
    return y.values();
  };
  const std::vector<double> whole = product(0, m);
  for (const Index rows : {1, 3, 8}) {
    for (Index first = 0; first + rows <= m; first += rows) {
      const auto begin = whole.begin() + first * n;
      EXPECT_EQ(product(first, rows), std::vector<double>(begin, begin + rows * n));
    }
  }
}

}  // namespace packed_matmul_test
}  // namespace mpitron::kernels
