#include "tests/kernels/attention/cached/cached_step.h"
#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace cached_append_test {

/// Numbers of other sizes from row to row, with zeros, infinities and NaN among them.
std::vector<double> uneven_values(Index rows, Index size, unsigned seed) {
  std::vector<double> values = test::test_values(rows * size, seed);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < size; ++j) {
      values[static_cast<std::size_t>(i * size + j)] *=
          i % 5 == 0 ? 0 : std::ldexp(1, 3 * i % 37 - 20);
    }
  }
  values[static_cast<std::size_t>(size)] = INFINITY;
  values[static_cast<std::size_t>(3 * size + 1)] = NAN;
  return values;
}

/// Of every type, in its own type, in bf16 and in 8 bits: the reference's bits.
TEST(CachedAppend, EveryTypeAsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const DType cache : {type, DType::bf16, DType::u8}) {
      for (const Layout& layout : kLayouts) {
        const CachedStep step(8);
        Workbench bench(layout);
        Twin &k = bench.input(type, {step.t, 1, 2, 5}), &v = bench.input(type, {step.t, 1, 2, 70});
        if (type == DType::f32 || type == DType::bf16) {
          k.fill(uneven_values(2 * step.t, 5, 3));
          v.fill(uneven_values(2 * step.t, 70, 4));
        }
        Twin& keys = bench.inout(cache, {CachedStep::kBlocks, 2, 8, 5});
        Twin& values = bench.inout(cache, {CachedStep::kBlocks, 2, 8, 70});
        Twin& key_scales = bench.inout(DType::u8, {CachedStep::kBlocks, 2, 8});
        Twin& value_scales = bench.inout(DType::u8, {CachedStep::kBlocks, 2, 8});
        Twin& table = bench.integers(step.table());
        const bool bytes = cache == DType::u8;
        SCOPED_TRACE(::testing::Message() << name_of(type) << " in " << name_of(cache));
        bench.check(
            [&](Side side) {
              return CacheAppend{.k = k(side),
                                 .v = v(side),
                                 .key_cache = keys(side),
                                 .value_cache = values(side),
                                 .pieces = step.pieces,
                                 .table = In(table(side)),
                                 .key_scales = bytes ? key_scales(side) : device::TensorView(),
                                 .value_scales = bytes ? value_scales(side) : device::TensorView()};
            },
            0);
      }
    }
  }
}

/// Latent attention: both parts of a row have one scale.
TEST(CachedAppend, PartsOfARowMayShareAScale) {
  for (const DType type : kTrainingTypes) {
    const CachedStep step(8);
    Workbench bench({1, 3});
    Twin &parts = bench.input(type, {step.t, 1, 1, 40}), &table = bench.integers(step.table());
    Twin& cache = bench.inout(DType::u8, {CachedStep::kBlocks, 1, 8, 40});
    Twin& scales = bench.inout(DType::u8, {CachedStep::kBlocks, 1, 8});
    bench.check(
        [&](Side side) {
          return CacheAppend{.k = device::slice(In(parts(side)), 3, 0, 32),
                             .v = device::slice(In(parts(side)), 3, 32, 40),
                             .key_cache = device::slice(cache(side), 3, 0, 32),
                             .value_cache = device::slice(cache(side), 3, 32, 40),
                             .pieces = step.pieces,
                             .table = In(table(side)),
                             .key_scales = scales(side)};
        },
        0);
  }
}

}  // namespace cached_append_test
}  // namespace mpitron::kernels
