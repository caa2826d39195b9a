#include "kernels/elementwise/elementwise.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace elementwise_test {

constexpr double kTolerance = 1e-7;  // one operation
constexpr Index kSizes[] = {1, 3, 15, 17, 63, 65, 1003, 4097, 40000};

/// An aligned start, or one in the middle of a pack.
Layout start(Index n) {
  return {n % 4 == 3 ? 1 : 0, 0};
}

/// Every pair of training types with every size.
template <class F>
void for_pairs(F&& f) {
  for (const DType from : kTrainingTypes) {
    for (const DType to : kTrainingTypes) {
      for (const Index n : kSizes) {
        SCOPED_TRACE(::testing::Message() << name_of(from) << " to " << name_of(to) << " n " << n);
        f(from, to, n);
      }
    }
  }
}

TEST(Elementwise, Fill) {
  for (const DType dtype : kTrainingTypes) {
    for (const Index n : kSizes) {
      Workbench bench(start(n));
      Twin& x = bench.output(dtype, {n});
      bench.check([&](Side side) { return Fill{x(side), 0.3f}; }, 0);
    }
  }
}

TEST(Elementwise, CastRoundsOnce) {
  for_pairs([](DType from, DType to, Index n) {
    Workbench bench(start(n));
    Twin &x = bench.input(from, {n}, 3), &y = bench.output(to, {n});
    bench.check([&](Side side) { return Cast{x(side), y(side)}; }, 0);
  });
}

TEST(Elementwise, CastOfStridedRows) {
  Workbench bench({3, 5});
  Twin &x = bench.input(DType::f32, {3, 4, 2, 37}), &y = bench.output(DType::bf16, {3, 4, 2, 37});
  bench.check([&](Side side) { return Cast{x(side), y(side)}; }, 0);
}

TEST(Elementwise, CastOfExtremes) {
  const std::vector<double> values = {0,          -0.0,        INFINITY,       -INFINITY, NAN,
                                      65504,      65519.9,     65520,          1e38,      3.39e38,
                                      1e-39,      -1e-42,      6e-8,           2.9e-8,    1e-5,
                                      1 + 0x1p-8, 1 + 0x1p-11, 1 + 3 * 0x1p-8, 1e-10};
  const auto n = static_cast<Index>(values.size());
  for (const DType dtype : {DType::bf16, DType::f16}) {
    Workbench bench;
    Twin &x = bench.input(DType::f32, {n}), &y = bench.output(dtype, {n});
    x.fill(values);
    // to bf16, subnormal numbers may become zero: 2^-126 against the largest, 1e38
    bench.check(
        [&](Side side) {
          return Cast{x(side), y(side)};
        },
        dtype == DType::bf16 ? 0x1p-126 / 1e38 : 0);
  }
}

TEST(Elementwise, Add) {
  for_pairs([](DType from, DType to, Index n) {
    Workbench bench(start(n));
    Twin &a = bench.input(from, {n}), &b = bench.input(DType::bf16, {n});
    Twin& y = bench.output(to, {n});
    bench.check([&](Side side) { return Add{a(side), b(side), y(side)}; }, kTolerance);
  });
}

TEST(Elementwise, AddInPlace) {
  for_pairs([](DType from, DType to, Index n) {
    Workbench bench(start(n));
    Twin &a = bench.input(from, {n}), &y = bench.inout(to, {n});
    bench.check([&](Side side) { return Add{a(side), y(side), y(side)}; }, kTolerance);
  });
}

TEST(Elementwise, Scale) {
  for_pairs([](DType from, DType to, Index n) {
    Workbench bench(start(n));
    Twin &x = bench.input(from, {n}), &y = bench.output(to, {n});
    bench.check([&](Side side) { return Scale{x(side), y(side), 0.3f}; }, kTolerance);
  });
}

TEST(Elementwise, MovingAverage) {
  for (const DType dtype : kTrainingTypes) {
    Workbench bench({1, 0});
    Twin &x = bench.input(dtype, {1000}), &average = bench.inout(DType::f32, {1000});
    bench.check([&](Side side) { return MovingAverage{average(side), x(side), 0.9f}; }, kTolerance);
  }
}

TEST(Elementwise, MaskedSum) {
  for (const Index n : kSizes) {
    Workbench bench(start(n));
    Twin &x = bench.input(DType::f32, {n}), &mask = bench.input(DType::f32, {n});
    Twin& y = bench.output(DType::f64, {2});
    bench.check([&](Side side) { return MaskedSum{x(side), mask(side), y(side)}; }, 0);
  }
}

TEST(Elementwise, NormalInit) {
  for (const DType dtype : kTrainingTypes) {
    for (const Index first : {Index{0}, Index{7}, (Index{1} << 33) + 1}) {
      Workbench bench({1, 0});
      Twin& x = bench.output(dtype, {1001});
      bench.check([&](Side side) { return NormalInit{x(side), {3, 4}, first, 0.5f, 0.02f}; }, 0);
    }
  }
}

// Columns of a larger matrix, as a rank holds them.
TEST(Elementwise, NormalInitOfColumns) {
  for (const DType dtype : kTrainingTypes) {
    Workbench bench({1, 3});
    Twin& x = bench.output(dtype, {13, 11});
    bench.check(
        [&](Side side) {
          return NormalInit{.x = x(side), .key = {3, 4}, .first_index = 5, .pitch = 33};
        },
        0);
  }
}

// Past the size from which outputs go around the caches.
TEST(Elementwise, LargeOutputs) {
  const Index n = (Index{32} << 20) / 4 + 17;
  Workbench bench;
  Twin &x = bench.input(DType::f32, {n}), &y = bench.output(DType::f32, {n});
  bench.check([&](Side side) { return Scale{x(side), y(side), 0.5f}; }, 0);
}

}  // namespace elementwise_test
}  // namespace mpitron::kernels
