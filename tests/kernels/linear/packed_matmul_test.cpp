#include "kernels/linear/packed_matmul.h"

#include "tests/kernels/linear/packed_weight.h"

namespace mpitron::kernels {
namespace packed_matmul_test {

constexpr double kTolerance = 3e-6;
TEST(PackedMatmul, MultipliesAsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const WeightFormat format : formats_under_test()) {
      for (const auto& [n, k] :
           {std::pair<Index, Index>{5, 45}, {64, 320}, {131, 45}, {33, 1100}}) {
        for (const Index m : {1, 2, 3, 4, 5, 6, 7, 8, 19, 40}) {
          SCOPED_TRACE(::testing::Message() << name_of(type) << " by " << facts(format).name
                                            << " m " << m << " n " << n << " k " << k);
          TestTensor weight(type, {n, k}, test_values(n * k, 3));
          TestTensor packed = packed_by_reference(weight.view(), format);
          Workbench bench({0, 2});
          Twin& x = bench.input(type, {m, k});
          Twin &bias = bench.input(type, {n}), &y = bench.output(type, {m, n});
          bench.check(
              [&](Side side) {
                return PackedMatmul{x(side), packed.view(), m == 2 ? In{} : In(bias(side)), y(side),
                                    {},      format};
              },
              kTolerance);
        }
      }
    }
  }
}

TEST(PackedMatmul, HeadsHaveWeightsOfTheirOwn) {
  const Index m = 9, heads = 3, n = 21, k = 40;
  for (const DType type : kTrainingTypes) {
    for (const WeightFormat format : formats_under_test()) {
      SCOPED_TRACE(::testing::Message() << name_of(type) << " by " << facts(format).name);
      const Index bytes = packed_bytes(format, n, k);
      TestTensor packed(DType::u8, {heads * bytes});
      for (unsigned head = 0; head < heads; ++head) {
        TestTensor weight(type, {n, k}, test_values(n * k, head));
        const std::vector<std::byte> one = packed_by_reference(weight.view(), format).bytes();
        std::copy(one.begin(), one.end(), packed.view().as<std::byte>() + head * bytes);
      }
      Workbench bench({1, 2});
      Twin &x = bench.input(type, {m, heads, k}), &y = bench.output(type, {m, heads, n});
      bench.check(
          [&](Side side) { return PackedMatmul{x(side), packed.view(), {}, y(side), {}, format}; },
          kTolerance);
    }
  }
}

TEST(PackedMatmul, ARowsBitsDoNotDependOnTheOthers) {
  const Index m = 43, n = 100, k = 320;
  for (const DType type : {DType::f32, DType::bf16}) {
    for (const WeightFormat format : formats_under_test()) {
      TestTensor x(type, {m, k}, test_values(m * k, 1));
      TestTensor weight(type, {n, k}, test_values(n * k, 2));
      TestTensor packed = packed_by_reference(weight.view(), format);
      const auto product = [&](Index first, Index rows) {
        TestTensor y(type, {rows, n}, std::vector<double>(std::size_t(rows * n), 0.0));
        const In view(
            static_cast<std::byte*>(x.view().data) + first * k * static_cast<Index>(size_of(type)),
            type, {rows, k});
        run_on_device(PackedMatmul{view, packed.view(), {}, y.view(), {}, format});
        return y.values();
      };
      const std::vector<double> whole = product(0, m);
      for (const Index rows : {1, 3, 8, 17, 33}) {
        for (Index first = 0; first + rows <= m; first += rows) {
          const auto begin = whole.begin() + first * n;
          EXPECT_EQ(product(first, rows), std::vector<double>(begin, begin + rows * n))
              << facts(format).name << " " << rows;
        }
      }
    }
  }
}

}  // namespace packed_matmul_test
}  // namespace mpitron::kernels
