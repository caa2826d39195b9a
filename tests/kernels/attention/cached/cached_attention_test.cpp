#include "kernels/attention/cached_attention.h"

#include "tests/kernels/attention/cached/cached_step.h"
#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace cached_attention_test {

constexpr double kTolerance = 2e-6;

struct Heads {
  Index groups, per_group, d, dv;
};

/// Contiguous results, which a bench with gaps cannot have.
void expect_near(StridedTensor (&o)[2], DType type) {
  const std::vector<double> got = o[1].values(), want = o[0].values();
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double rounding = type == DType::bf16 ? 0x1p-7 : type == DType::f16 ? 0x1p-10 : 0;
    ASSERT_NEAR(got[i], want[i], 2e-6 + rounding * std::abs(want[i])) << i;
  }
}

TEST(CachedAttention, EveryShapeAsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const Index block_size : {2, 32}) {
      for (const Heads& heads : {Heads{2, 1, 16, 16}, Heads{1, 5, 24, 40}, Heads{3, 4, 64, 17}}) {
        for (const Index window : {-1, 0, 5}) {
          SCOPED_TRACE(::testing::Message() << name_of(type) << " block " << block_size << " d "
                                            << heads.d << " window " << window);
          const CachedStep step(block_size);
          Workbench bench;
          const Index n = heads.groups * heads.per_group;
          Twin& q = bench.input(type, {step.t, 1, heads.groups, heads.per_group, heads.d}, 3);
          Twin& keys = bench.input(type, {CachedStep::kBlocks, heads.groups, block_size, heads.d});
          Twin& values =
              bench.input(type, {CachedStep::kBlocks, heads.groups, block_size, heads.dv});
          Twin &sinks = bench.input(type, {n}, 2), &o = bench.output(type, {step.t, n, heads.dv});
          Twin& bias = bench.input(type, {2 * 80 - 1, n}, 2);
          const bool causal = window >= 0 || heads.d > 16;
          Twin& table = bench.integers(step.table(causal));
          bench.check(
              [&](Side side) {
                return CachedAttention{.q = q(side),
                                       .key_cache = keys(side),
                                       .value_cache = values(side),
                                       .sinks = window == 0 ? In(sinks(side)) : In{},
                                       .bias = window == 5 ? In(bias(side)) : In{},
                                       .o = o(side),
                                       .lse = {},
                                       .pieces = step.pieces,
                                       .scale = 0.5f,
                                       .window = window,
                                       .softcap = window == 0 ? 0.5f : 0.f,
                                       .zero_sink = window == 5,
                                       .causal = causal,
                                       .table = In(table(side))};
              },
              kTolerance);
        }
      }
    }
  }
}

/// Whole numbers from `least` on, `count` different ones.
std::vector<double> whole_numbers(Index size, Index least, Index count) {
  std::vector<double> values;
  for (Index i = 0; i < size; ++i) {
    values.push_back(static_cast<double>(least + 7919 * i % 1009 % count));
  }
  return values;
}

/// A cache of bf16 or of 8 bits that queries of other types attend to: their numbers are exact.
TEST(CachedAttention, CachesOfOtherTypesAsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const DType cache : {DType::bf16, DType::u8}) {
      for (const Heads& heads : {Heads{3, 1, 16, 40}, Heads{2, 4, 72, 17}}) {
        for (const Index block_size : {2, 32}) {
          SCOPED_TRACE(::testing::Message() << name_of(type) << " cache " << name_of(cache) << " d "
                                            << heads.d << " block " << block_size);
          const CachedStep step(block_size);
          Workbench bench({1, 3});
          const Index n = heads.groups * heads.per_group, rows = CachedStep::kBlocks * block_size;
          Twin& q = bench.input(type, {step.t, 1, heads.groups, heads.per_group, heads.d}, 3);
          Twin& keys = bench.input(cache, {CachedStep::kBlocks, heads.groups, block_size, heads.d});
          Twin& values =
              bench.input(cache, {CachedStep::kBlocks, heads.groups, block_size, heads.dv});
          const Shape of_rows = {CachedStep::kBlocks, heads.groups, block_size};
          Twin &key_scales = bench.input(DType::u8, of_rows),
               &value_scales = bench.input(DType::u8, of_rows);
          const bool bytes = cache == DType::u8;
          if (bytes) {
            keys.fill(whole_numbers(rows * heads.groups * heads.d, 0, 256));
            values.fill(whole_numbers(rows * heads.groups * heads.dv, 0, 256));
            key_scales.fill(whole_numbers(rows * heads.groups, 124, 3));
            value_scales.fill(whole_numbers(rows * heads.groups, 125, 4));
          }
          StridedTensor o[2] = {{type, {step.t, n, heads.dv}, {0, 0}},
                                {type, {step.t, n, heads.dv}, {0, 0}}};
          Twin& table = bench.integers(step.table());
          bench.check(
              [&](Side side) {
                return CachedAttention{.q = q(side),
                                       .key_cache = keys(side),
                                       .value_cache = values(side),
                                       .sinks = {},
                                       .bias = {},
                                       .o = o[side].view(),
                                       .lse = {},
                                       .pieces = step.pieces,
                                       .scale = 0.25F,
                                       .window = heads.d == 16 ? -1 : 5,
                                       .table = In(table(side)),
                                       .key_scales = bytes ? In(key_scales(side)) : In{},
                                       .value_scales = bytes ? In(value_scales(side)) : In{}};
              },
              kTolerance);
          expect_near(o, type);
        }
      }
    }
  }
}

/// Latent attention: one key for all heads, whose first components are the value.
TEST(CachedAttention, ValuesMayBeColumnsOfTheKeys) {
  for (const DType type : kTrainingTypes) {
    const CachedStep step(8);
    Workbench bench({1, 3});
    Twin& q = bench.input(type, {step.t, 1, 1, 6, 40}, 2);
    Twin& keys = bench.input(type, {CachedStep::kBlocks, 1, 8, 40});
    StridedTensor o[2] = {{type, {step.t, 6, 32}, {0, 0}}, {type, {step.t, 6, 32}, {0, 0}}};
    Twin &parts = bench.input(type, {step.t, 1, 1, 40}), &table = bench.integers(step.table());
    bench.check(
        [&](Side side) {
          return CachedAttention{.q = q(side),
                                 .key_cache = keys(side),
                                 .value_cache = device::slice(In(keys(side)), 3, 0, 32),
                                 .sinks = {},
                                 .bias = {},
                                 .o = o[side].view(),
                                 .lse = {},
                                 .pieces = step.pieces,
                                 .table = In(table(side))};
        },
        kTolerance);
    expect_near(o, type);
    Twin& cache = bench.inout(type, {CachedStep::kBlocks, 1, 8, 40});
    bench.check(
        [&](Side side) {
          const device::TensorView to = cache(side);
          return CacheAppend{device::slice(In(parts(side)), 3, 0, 32),
                             device::slice(In(parts(side)), 3, 32, 40),
                             device::slice(to, 3, 0, 32),
                             device::slice(to, 3, 32, 40),
                             step.pieces,
                             In(table(side))};
        },
        0);
  }
}

/// Of ranks that share the blocks each sees some: what is not here is left out.
TEST(CachedAttention, BlocksThatAreNotHereAreLeftOut) {
  for (const DType type : kTrainingTypes) {
    CachedStep step(8);
    for (std::vector<Index>& list : step.lists) {
      for (std::size_t i = 0; i < list.size(); i += 2) {
        list[i] = -1;
      }
    }
    Workbench bench;
    Twin& q = bench.input(type, {step.t, 1, 2, 3, 24}, 3);
    Twin &keys = bench.inout(type, {CachedStep::kBlocks, 2, 8, 24}),
         &values = bench.inout(type, {CachedStep::kBlocks, 2, 8, 16});
    Twin &o = bench.output(DType::f32, {step.t, 6, 16}),
         &lse = bench.output(DType::f32, {step.t, 6});
    Twin &k = bench.input(type, {step.t, 1, 2, 24}), &v = bench.input(type, {step.t, 1, 2, 16});
    Twin& table = bench.integers(step.table());
    bench.check(
        [&](Side side) {
          return CacheAppend{k(side),      v(side),     keys(side),
                             values(side), step.pieces, In(table(side))};
        },
        0);
    bench.check(
        [&](Side side) {
          return CachedAttention{.q = q(side),
                                 .key_cache = keys(side),
                                 .value_cache = values(side),
                                 .sinks = {},
                                 .bias = {},
                                 .o = o(side),
                                 .lse = lse(side),
                                 .pieces = step.pieces,
                                 .table = In(table(side))};
        },
        kTolerance);
  }
}

/// More positions than a GPU's warp has: parts are joined.
TEST(CachedAttention, LongSequencesAsTheReference) {
  CachedStep step(16);
  step.pieces.clear();
  std::vector<Index> blocks;
  for (Index i = 0; i < CachedStep::kBlocks; ++i) {
    blocks.push_back((5 * i + 3) % CachedStep::kBlocks);
  }
  step.pieces = {{0, 2, 500, blocks}, {2, 1, 255, blocks}};
  step.t = 3;
  const Index scratch = 3 * 4 * 2 * 25;
  TestTensor q(DType::f32, {3, 1, 2, 2, 24}, test_values(3 * 96, 1));
  TestTensor keys(DType::f32, {CachedStep::kBlocks, 2, 16, 24},
                  test_values(CachedStep::kBlocks * 768, 2));
  TestTensor values(DType::f32, {CachedStep::kBlocks, 2, 16, 24},
                    test_values(CachedStep::kBlocks * 768, 3));
  const std::vector<double> words = step.table();
  StridedTensor table(DType::i64, {static_cast<Index>(words.size())}, {});
  table.fill(words);
  TestTensor workspace(DType::f32, {scratch}, std::vector<double>(std::size_t(scratch), NAN));
  std::vector<std::vector<double>> results, logarithms;
  for (const bool reference : {true, false}) {
    TestTensor o(DType::f32, {3, 4, 24}, std::vector<double>(288, NAN));
    TestTensor lse(DType::f32, {3, 4}, std::vector<double>(12, NAN));
    const CachedAttention kernel{.q = q.view(),
                                 .key_cache = keys.view(),
                                 .value_cache = values.view(),
                                 .sinks = {},
                                 .bias = {},
                                 .o = o.view(),
                                 .lse = lse.view(),
                                 .pieces = step.pieces,
                                 .window = 400,
                                 .zero_sink = true,
                                 .table = In(table.view()),
                                 .workspace = workspace.view()};
    if (reference) {
      device::ReferenceStream stream;
      run(stream, kernel);
    } else {
      run_on_device(kernel);
    }
    results.push_back(o.values());
    logarithms.push_back(lse.values());
  }
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    ASSERT_NEAR(results[1][i], results[0][i], 2e-6) << i;
  }
  for (std::size_t i = 0; i < logarithms[0].size(); ++i) {
    ASSERT_NEAR(logarithms[1][i], logarithms[0][i], 1e-5) << i;
  }
}

/// What a row gives does not depend on its neighbours in the step.
TEST(CachedAttention, RowsAloneHaveTheSameBits) {
  const CachedStep step(16);
  TestTensor q(DType::f32, {step.t, 1, 2, 2, 24}, test_values(step.t * 96, 1));
  TestTensor keys(DType::f32, {CachedStep::kBlocks, 2, 16, 24},
                  test_values(CachedStep::kBlocks * 768, 2));
  TestTensor values(DType::f32, {CachedStep::kBlocks, 2, 16, 24},
                    test_values(CachedStep::kBlocks * 768, 3));
  const auto attended = [&](std::span<const CachedPiece> pieces) {
    TestTensor o(DType::f32, {step.t, 4, 24}, std::vector<double>(std::size_t(step.t * 96), 0.0));
    std::vector<std::int64_t> words;
    append_piece_table(pieces, step.t, true, words);
    StridedTensor table(DType::i64, {static_cast<Index>(words.size())}, {});
    table.fill({words.begin(), words.end()});
    run_on_device(CachedAttention{.q = q.view(),
                                  .key_cache = keys.view(),
                                  .value_cache = values.view(),
                                  .sinks = {},
                                  .bias = {},
                                  .o = o.view(),
                                  .lse = {},
                                  .pieces = pieces,
                                  .table = In(table.view())});
    return o.values();
  };
  const std::vector<double> whole = attended(step.pieces);
  for (const CachedPiece& piece : step.pieces) {
    for (Index i = 0; i < piece.rows; ++i) {
      const CachedPiece row{piece.first_row + i, 1, piece.first_position + i, piece.blocks};
      const std::vector<double> alone = attended(std::span(&row, 1));
      for (auto j = static_cast<std::size_t>(row.first_row * 96); j < alone.size(); ++j) {
        if (j < static_cast<std::size_t>((row.first_row + 1) * 96)) {
          EXPECT_EQ(alone[j], whole[j]) << row.first_row;
        }
      }
    }
  }
}

}  // namespace cached_attention_test
}  // namespace mpitron::kernels
