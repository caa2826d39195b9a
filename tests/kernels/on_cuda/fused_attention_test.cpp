// Attention by cuDNN: on the emulated GPU its graphs as they are described, on a GPU the library.
#include <algorithm>

#include "kernels/attention/attention_choice.h"
#include "kernels/cuda/attention/fused_graph.h"
#include "tests/kernels/attention_check.h"

namespace mpitron::kernels {
namespace fused_attention_test {

constexpr DType kHalves[] = {DType::bf16, DType::f16};

/// Attention is cuDNN's wherever it can be.
class FusedAttention : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda::cudnn_version() < 91002) {
      GTEST_SKIP() << "no cuDNN 9.10.2 or later here: " << cuda::cudnn_version();
    }
    attention_choices().order = {AttentionKernel::cudnn};
  }
  void TearDown() override { attention_choices() = {}; }

  /// Whether cuDNN runs both passes of a case.
  static std::pair<bool, bool> fits(const AttentionCase& c) {
    AttentionFixture fixture(c);
    AttentionResults results(c, c.dtype, DType::f32);
    return {fits(fixture.forward(results)), fits(fixture.backward(results))};
  }
  template <class Kernel>
  static bool fits(const Kernel& kernel) {
    const auto names = candidates(TestMemoryOnGpu::instance().stream(), moved(kernel));
    return std::ranges::find(names, AttentionKernel::cudnn) != names.end();
  }
  template <class Kernel>
  static Kernel moved(const Kernel& kernel) {
    TestMemoryOnGpu::instance().upload();
    return moved_to_gpu(kernel);
  }
  /// Libraries up to 9.15 have backward for whole tiles of keys only: the rest is ours.
  static void check_fused(const AttentionCase& c) {
    const bool backward = cuda::cudnn_version() > 91500 || c.s_kv % 128 == 0;
    EXPECT_EQ(fits(c), std::pair(true, backward)) << c;
    check(c);
  }
  /// Rows [b, s] of one head: those that see nothing have no result and no gradient, and leave
  /// those of the others, of keys and of values finite.
  template <class IsBlind>
  static void check_blind(const AttentionCase& c, AttentionFixture& fixture, IsBlind&& is_blind) {
    EXPECT_TRUE(fits(c).first);
    AttentionResults got(c, c.dtype, DType::f32);
    run_on_device(fixture.forward(got));
    run_on_device(fixture.backward(got));
    const auto o = got.o.values(), lse = got.lse.values(), dq = values_of(got.gradients.q());
    for (Index row = 0; row < c.b * c.s; ++row) {
      const Index first = (row % c.s * c.b + row / c.s) * c.d;
      EXPECT_EQ(lse[static_cast<std::size_t>(row)] == -INFINITY, is_blind(row)) << row;
      for (Index i = first; i < first + c.d; ++i) {
        const double x = o[static_cast<std::size_t>(i)], dx = dq[static_cast<std::size_t>(i)];
        EXPECT_TRUE(is_blind(row) ? x == 0 && dx == 0 : std::isfinite(x) && std::isfinite(dx));
      }
    }
    for (const auto& view : {got.gradients.k(), got.gradients.v()}) {
      EXPECT_TRUE(std::ranges::all_of(values_of(view), [](double x) { return std::isfinite(x); }));
    }
  }
};

TEST_F(FusedAttention, CausalOfAllLengths) {
  for (const DType type : kHalves) {
    for (const Index s : {2, 64, 97, 130}) {
      check_fused({.dtype = type, .s = s, .s_kv = s, .b = 2, .n = 2, .g = 2});
    }
  }
}

TEST_F(FusedAttention, HeadSizes) {
  for (const Index d : {8, 40, 128, 256}) {
    check_fused({.dtype = DType::bf16, .s = 67, .s_kv = 67, .n = 2, .d = d, .dv = d});
  }
  check_fused({.dtype = DType::bf16, .s = 67, .s_kv = 67, .d = 192, .dv = 128});
}

TEST_F(FusedAttention, GroupsOfQueries) {
  for (const Index groups : {1, 2, 3, 6}) {
    check_fused({.dtype = DType::bf16,
                 .s = 70,
                 .s_kv = 70,
                 .b = 2,
                 .n = 6,
                 .g = groups,
                 .d = 16,
                 .dv = 16});
  }
}

/// Heads of one group are evenly spaced, those of all groups are not.
TEST_F(FusedAttention, ViewsOfOneFusedTensor) {
  for (const Index groups : {1, 2, 4}) {
    AttentionCase c{.dtype = DType::f16, .s = 97, .s_kv = 97, .b = 2, .n = 4, .g = groups};
    c.fused = true;
    check_fused(c);
  }
}

TEST_F(FusedAttention, NotCausalAndFewerQueriesThanKeys) {
  for (const Index s_kv : {50, 64, 200}) {
    check_fused({.dtype = DType::bf16, .s = 97, .s_kv = s_kv, .n = 2, .causal = false});
  }
  for (const Index s : {2, 33, 100}) {
    check_fused({.dtype = DType::bf16, .s = s, .s_kv = 203, .n = 2});
  }
}

TEST_F(FusedAttention, Windows) {
  for (const Index window : {0, 1, 17, 64, 600}) {
    check_fused({.dtype = DType::bf16, .s = 131, .s_kv = 131, .window = window});
  }
  check_fused({.dtype = DType::bf16, .s = 130, .s_kv = 300, .window = 37});
}

TEST_F(FusedAttention, Masks) {
  for (const DType type : kHalves) {
    for (const Index samples : {1, 2}) {
      for (const bool one_row : {false, true}) {
        AttentionCase c{
            .dtype = type, .s = 66, .s_kv = 66, .b = 2, .n = 2, .g = 2, .causal = false};
        c.masks = samples;
        c.one_mask_row = one_row;
        check_fused(c);
        c.s_kv = 53;
        check_fused(c);
        c.s_kv = 96;
        c.causal = true;
        check_fused(c);
      }
    }
  }
}

TEST_F(FusedAttention, MasksOfFusedTensorsAndGroups) {
  AttentionCase c{.dtype = DType::bf16, .s = 97, .s_kv = 97, .b = 2, .n = 4, .g = 4, .masks = 2};
  c.fused = true;
  check_fused(c);
  c.g = 2;
  c.masks = 1;
  check_fused(c);
  c.fused = false;
  c.masks = 2;
  check_fused(c);
}

/// Queries that see nothing, as the padding of BERT has them, and a sample that is all padding.
TEST_F(FusedAttention, RowsThatSeeNothing) {
  for (const DType type : kHalves) {
    for (const bool causal : {false, true}) {
      const AttentionCase c{
          .dtype = type, .s = 70, .s_kv = 70, .b = 2, .causal = causal, .masks = 2};
      AttentionFixture fixture(c);
      const auto is_blind = [](Index row) { return row >= 70 || row < 3 || row > 60; };
      for (Index row = 0; row < c.b * c.s; ++row) {
        if (is_blind(row)) {
          std::fill_n(fixture.hidden() + row * c.s_kv, c.s_kv, std::uint8_t{1});
        }
      }
      check_blind(c, fixture, is_blind);
    }
  }
}

/// What its pattern does not have, or has in another way, is left to our own kernel.
TEST_F(FusedAttention, IsNotAskedForTheRest) {
  const AttentionCase plain{.dtype = DType::bf16, .s = 40, .s_kv = 40, .b = 2};
  std::vector<AttentionCase> cases(9, plain);
  cases[0].dtype = DType::f32;
  cases[1].dropout = 0.1;
  cases[2].masks = 2;  // of samples that are taken apart into groups
  cases[2].n = 4;
  cases[2].g = 2;
  cases[2].fused = true;
  cases[3].bias = true;
  cases[4].d = 12;
  cases[5].dv = 4;
  cases[6].s = 1;
  cases[7].s_kv = 39;
  cases[8].window = 3;
  cases[8].causal = false;
  for (const AttentionCase& c : cases) {
    EXPECT_EQ(fits(c), std::pair(false, false)) << c;
  }
  EXPECT_TRUE(fits(plain).first);
}

TEST_F(FusedAttention, IsNotAskedForPartsOfASequence) {
  const AttentionCase c{.dtype = DType::bf16, .s = 48, .s_kv = 48};
  AttentionFixture fixture(c);
  AttentionResults results(c, c.dtype, DType::f32), wide(c, DType::f32, DType::f32);
  AttentionForward forward = fixture.forward(results);
  forward.positions = last_positions(c.s, c.s_kv);
  EXPECT_FALSE(fits(forward));
  EXPECT_FALSE(fits(fixture.forward(wide))) << "o in fp32";
  AttentionForward shifted = fixture.forward(results);
  shifted.q = slice(shifted.q, 0, 0, 24);
  shifted.q.data = static_cast<const char*>(shifted.q.data) + 2;
  shifted.o = device::TensorView(slice(results.o.view(), 0, 0, 24));
  EXPECT_FALSE(fits(shifted)) << "not aligned to 16 bytes";
}

/// The shape's own choice comes first, then the order; what cannot run is passed over.
TEST_F(FusedAttention, TheChoiceOfAShapeDecides) {
  const AttentionCase c{.dtype = DType::bf16, .s = 56, .s_kv = 56};
  AttentionFixture fixture(c);
  AttentionResults results(c, c.dtype, DType::f32);
  const AttentionForward kernel = moved(fixture.forward(results));
  const device::CudaStream& stream = TestMemoryOnGpu::instance().stream();
  EXPECT_GT(workspace_bytes(stream, kernel), 0) << "cuDNN's";
  attention_choices().by_shape[shape_of(kernel)] = AttentionKernel::mma;
  EXPECT_EQ(workspace_bytes(stream, kernel), 0) << "our own";
  AttentionForward masked = kernel;
  masked.dropout.threshold = 1;
  attention_choices().by_shape[shape_of(masked)] = AttentionKernel::cudnn;
  EXPECT_EQ(workspace_bytes(stream, masked), 0) << "which has no dropout of ours";
}

}  // namespace fused_attention_test
}  // namespace mpitron::kernels
