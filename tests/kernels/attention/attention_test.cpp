#include "kernels/attention/attention.h"

#include <limits>

#include "tests/kernels/attention_check.h"

namespace mpitron::kernels {
namespace attention_test {

constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f16};

TEST(Attention, CausalOfAllLengths) {
  for (const DType type : kTypes) {
    for (const Index s : {1, 5, 63, 65, 97, 130}) {
      check({.dtype = type, .s = s, .s_kv = s, .b = 2, .n = 2});
    }
    check({.dtype = type, .s = 513, .s_kv = 513, .dv = 64});
  }
}

TEST(Attention, HeadSizes) {
  for (const DType type : kTypes) {
    for (const Index d : {1, 15, 16, 40, 64, 80, 96, 128, 160, 256}) {
      check({.dtype = type, .s = 67, .s_kv = 67, .n = 2, .d = d, .dv = d});
    }
    check({.dtype = type, .s = 67, .s_kv = 67, .d = 192, .dv = 128});
    check({.dtype = type, .s = 67, .s_kv = 67, .d = 24, .dv = 70});
  }
}

TEST(Attention, GroupsOfQueries) {
  for (const DType type : kTypes) {
    for (const Index groups : {1, 2, 3, 6}) {
      check({.dtype = type, .s = 70, .s_kv = 70, .b = 2, .n = 6, .g = groups, .d = 16, .dv = 16});
    }
  }
}

TEST(Attention, ViewsOfOneFusedTensor) {
  for (const DType type : kTypes) {
    for (const Index d : {40, 64}) {
      const AttentionCase c{
          .dtype = type, .s = 97, .s_kv = 97, .b = 2, .n = 4, .g = 2, .d = d, .dv = d};
      AttentionCase fused = c;
      fused.fused = true;
      check(fused);
    }
  }
}

TEST(Attention, NotCausal) {
  for (const DType type : kTypes) {
    for (const Index s_kv : {1, 50, 64, 66, 200}) {
      check({.dtype = type, .s = 97, .s_kv = s_kv, .n = 2, .causal = false});
    }
  }
}

TEST(Attention, FewerQueriesThanKeys) {
  for (const DType type : kTypes) {
    for (const Index s : {1, 2, 33, 100}) {
      check({.dtype = type, .s = s, .s_kv = 203, .n = 2});
    }
  }
}

TEST(Attention, MoreQueriesThanKeysHideTheFirstRows) {
  for (const DType type : kTypes) {
    check({.dtype = type, .s = 203, .s_kv = 77, .n = 2, .d = 32, .dv = 32});
  }
}

TEST(Attention, Windows) {
  for (const DType type : kTypes) {
    for (const Index window : {0, 1, 17, 63, 64, 130, 600}) {
      check({.dtype = type, .s = 331, .s_kv = 331, .window = window});
    }
    check({.dtype = type, .s = 1100, .s_kv = 1100, .n = 4, .g = 2, .window = 77});
    check({.dtype = type, .s = 130, .s_kv = 800, .d = 128, .dv = 128, .window = 37});
    check({.dtype = type, .s = 131, .s_kv = 97, .causal = false, .window = 20});
  }
}

TEST(Attention, Masks) {
  for (const DType type : kTypes) {
    for (const Index masks : {1, 2}) {
      check({.dtype = type, .s = 97, .s_kv = 97, .b = 2, .n = 2, .masks = masks});
      check({.dtype = type, .s = 70, .s_kv = 131, .b = 2, .causal = false, .masks = masks});
    }
  }
}

TEST(Attention, KeysHiddenFromEveryQuery) {
  for (const DType type : kTypes) {
    for (const Index masks : {1, 3}) {
      check({.dtype = type,
             .s = 97,
             .s_kv = 97,
             .b = 3,
             .n = 2,
             .masks = masks,
             .one_mask_row = true});
      check({.dtype = type,
             .s = 70,
             .s_kv = 131,
             .b = 3,
             .causal = false,
             .masks = masks,
             .one_mask_row = true});
    }
  }
}

TEST(Attention, BiasOfTheDistance) {
  for (const DType type : kTypes) {
    check({.dtype = type, .s = 97, .s_kv = 97, .b = 2, .n = 2, .bias = true});
    check({.dtype = type, .s = 1, .s_kv = 1, .b = 2, .causal = false, .bias = true});
    check({.dtype = type,
           .s = 131,
           .s_kv = 203,
           .n = 2,
           .d = 16,
           .dv = 16,
           .causal = false,
           .bias = true});
    check({.dtype = type,
           .s = 64,
           .s_kv = 64,
           .b = 2,
           .n = 4,
           .g = 2,
           .causal = false,
           .dropout = 0.3,
           .masks = 2,
           .fused = true,
           .one_mask_row = true,
           .bias = true});
  }
}

/// Bounds far below, about and far above the scores, which are of order 1 here.
TEST(Attention, SoftCaps) {
  for (const DType type : kTypes) {
    for (const float softcap : {0.25f, 2.f, 50.f}) {
      check({.dtype = type, .s = 97, .s_kv = 97, .b = 2, .n = 4, .g = 2, .softcap = softcap});
      check({.dtype = type,
             .s = 70,
             .s_kv = 131,
             .n = 2,
             .d = 16,
             .dv = 16,
             .window = 33,
             .dropout = 0.3,
             .masks = 1,
             .softcap = softcap});
    }
  }
}

TEST(Attention, Dropout) {
  for (const DType type : kTypes) {
    check({.dtype = type, .s = 201, .s_kv = 201, .b = 2, .n = 2, .dropout = 0.1});
    check({.dtype = type, .s = 97, .s_kv = 97, .n = 2, .d = 40, .dv = 24, .dropout = 0.5});
  }
}

/// Both parts of a split sequence, moved by even and by odd distances; only rows move.
TEST(Attention, DropoutOfMovedSequences) {
  for (const DType type : kTypes) {
    for (const GlobalIndexMap& index :
         {GlobalIndexMap{0, {0, 64}}, GlobalIndexMap{48, {32, 130}, 5, 3, 2},
          GlobalIndexMap{33, {1, 77}}, GlobalIndexMap{10, {5, 8}, 1, 1, 1}}) {
      check({.dtype = type,
             .s = 97,
             .s_kv = 131,
             .b = 2,
             .n = 2,
             .d = 24,
             .dv = 24,
             .dropout = 0.4,
             .index = index});
    }
  }
}

TEST(Attention, EverythingAtOnce) {
  for (const DType type : kTypes) {
    check({.dtype = type,
           .s = 131,
           .s_kv = 260,
           .b = 2,
           .n = 4,
           .g = 2,
           .d = 48,
           .dv = 80,
           .window = 150,
           .dropout = 0.25,
           .masks = 2});
  }
}

TEST(Attention, LargeLogits) {
  for (const DType type : kTypes) {
    const AttentionCase c{.dtype = type, .s = 130, .s_kv = 130};
    AttentionFixture fixture(c);
    fixture.inputs().fill(fixture.inputs().q(), 1, 200);
    AttentionResults expected(c, DType::f64, DType::f64), got(c, type, DType::f32);
    device::ReferenceStream reference;
    run(reference, fixture.forward(expected));
    run_on_device(fixture.forward(got));
    // exp magnifies the rounding of scores of up to 500: 3e-5 in fp32
    EXPECT_LE(error(got.o.values(), expected.o.values()), type == DType::bf16 ? 0x1p-8 : 1e-3);
  }
}

/// Rows whose keys are all masked, at the edges of the tiles and in between.
TEST(Attention, RowsThatSeeNothing) {
  for (const DType type : kTypes) {
    const AttentionCase c{.dtype = type, .s = 130, .s_kv = 130, .dropout = 0.1, .masks = 1};
    AttentionFixture fixture(c);
    const Index blind[] = {0, 1, 5, 6, 63, 96, 129};
    for (const Index row : blind) {
      std::fill_n(fixture.hidden() + row * c.s_kv, c.s_kv, std::uint8_t{1});
    }
    AttentionResults got(c, type, DType::f32);
    run_on_device(fixture.forward(got));
    run_on_device(fixture.backward(got));
    const auto o = got.o.values(), lse = got.lse.values(), dq = values_of(got.gradients.q());
    for (const Index row : blind) {
      EXPECT_EQ(lse[static_cast<std::size_t>(row)], -std::numeric_limits<double>::infinity());
      for (Index i = row * c.d; i < (row + 1) * c.d; ++i) {
        EXPECT_EQ(o[static_cast<std::size_t>(i)], 0);
        EXPECT_EQ(dq[static_cast<std::size_t>(i)], 0);
      }
    }
    for (const auto& values : {o, dq, values_of(got.gradients.k()), values_of(got.gradients.v())}) {
      for (const double value : values) {
        EXPECT_TRUE(std::isfinite(value));
      }
    }
  }
}

TEST(Attention, NanInputsAreSeen) {
  for (const DType type : kTypes) {
    const AttentionCase c{.dtype = type, .s = 20, .s_kv = 20};
    AttentionFixture fixture(c);
    reference::Writer(fixture.inputs().q()).set(std::nan(""), 7, 0, 0, 3);
    AttentionResults got(c, type, DType::f32);
    run_on_device(fixture.forward(got));
    EXPECT_TRUE(std::isnan(got.o.values()[7 * 64]));
    EXPECT_TRUE(std::isnan(got.lse.values()[7]));
    EXPECT_TRUE(std::isfinite(got.o.values()[8 * 64]));
  }
}

/// Some of the queries, heads and samples of a larger attention, told where they stand, have the
/// mask of the whole. Keys are not moved: they are counted as they are given.
void check_offset(DType type, Index offset) {
  const Index all_rows = offset + 70;
  const AttentionCase whole{.dtype = type,
                            .s = all_rows,
                            .s_kv = all_rows,
                            .b = 3,
                            .n = 3,
                            .g = 3,
                            .d = 16,
                            .dv = 16,
                            .dropout = 0.3};
  const AttentionCase part{
      .dtype = type, .s = 70, .s_kv = all_rows, .d = 16, .dv = 16, .dropout = 0.3};
  AttentionFixture all(whole), some(part);
  const auto part_of = [&](const device::TensorView& view, Index first) {
    return slice(slice(slice(view, 0, first, all_rows), 1, 2, 3), 2, 1, 2);
  };
  const auto copy = [&](const device::TensorView& to, const device::TensorView& from, Index first) {
    const auto values = values_of(part_of(from, first));
    for (Index i = 0; i < to.numel(); ++i) {
      reference::Writer(to).set(values[static_cast<std::size_t>(i)], i);
    }
  };
  copy(some.inputs().q(), all.inputs().q(), offset);
  copy(some.inputs().k(), all.inputs().k(), 0);
  copy(some.inputs().v(), all.inputs().v(), 0);
  some.dropout.index = {0, {-1, offset}, 2, 1, 1};
  AttentionResults expected(whole, type, DType::f32), got(part, type, DType::f32);
  run_on_device(all.forward(expected));
  run_on_device(some.forward(got));
  const Tolerance limit = tolerance_of(type);
  EXPECT_LE(error(got.o.values(), values_of(part_of(expected.o.view(), offset))), 2 * limit.o);
}

TEST(Attention, DropoutBelongsToGlobalPositions) {
  for (const DType type : kTypes) {
    check_offset(type, 64);  // pairs of rows stay pairs
    check_offset(type, 7);   // they do not
  }
}

}  // namespace attention_test
}  // namespace mpitron::kernels
