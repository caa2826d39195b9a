#include <optional>

#include <gtest/gtest.h>

#include "kernels/host/attention/attention_heads.h"
#include "tests/kernels/attention_tasks.h"

namespace mpitron::kernels::host::attention {
namespace attention_forward_test {

constexpr AttentionCase kCases[] = {
    {.s = 37, .s_kv = 53, .b = 2, .n = 4, .g = 2, .d = 24, .dv = 40},
    {.s = 97, .s_kv = 97, .b = 2, .n = 2, .g = 1, .d = 64, .dv = 64, .window = 30},
    {.s = 131, .s_kv = 131, .b = 2, .n = 2, .g = 2, .d = 24, .dv = 24, .together = 40},
    {.s = 301,
     .s_kv = 340,
     .b = 2,
     .n = 2,
     .g = 2,
     .d = 16,
     .dv = 16,
     .window = 30,
     .together = 70},
    {.s = 101, .s_kv = 613, .b = 1, .n = 2, .g = 2, .d = 64, .dv = 64, .dropout = 0.2},
    {.s = 7, .s_kv = 65, .b = 2, .n = 2, .g = 2, .d = 128, .dv = 128, .causal = false, .masks = 2}};

/// One task alone: its head is that of the reference, every other byte is as it was.
void check_task(const AttentionCase& c, Index batch, Index head,
                const std::optional<AttentionPositions>& positions = {}) {
  SCOPED_TRACE(::testing::Message() << c << ": sample " << batch << ", head " << head);
  AttentionFixture fixture(c);
  AttentionResults expected(c, DType::f64, DType::f64), got(c, c.dtype, DType::f32);
  device::ReferenceStream reference;
  AttentionForward oracle = fixture.forward(expected), kernel = fixture.forward(got);
  oracle.positions = kernel.positions = positions;
  run(reference, oracle);
  const auto problem = problem_of<float>(kernel);
  TaskWorkspace work(forward_words(problem));
  forward_task(problem, batch * c.n + head, work.data());
  EXPECT_TRUE(work.guard_is_whole());
  expect_only_head(got.o.view(), expected.o.view(), batch, head, 2e-6);
  const auto lse = got.lse.values(), want = expected.lse.values();
  for (Index i = 0; i < c.b * c.n * c.s; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i / c.s == batch * c.n + head) {
      ASSERT_NEAR(lse[at], want[at], 2e-6) << i;
    } else {
      ASSERT_TRUE(std::isnan(lse[at])) << i;
    }
  }
}

TEST(AttentionForwardTask, WritesItsHeadAndNothingElse) {
  for (const AttentionCase& c : kCases) {
    check_task(c, 0, 0);
    check_task(c, c.b - 1, c.n - 1);
  }
}

// Six rows are computed at a time, and those behind the last query see keys that no query sees.
TEST(AttentionForwardTask, PacksWhatPaddedQueriesSee) {
  const AttentionCase c{.s = 21, .s_kv = 90, .d = 16, .dv = 16};
  for (Index offset = 0; offset < 80; ++offset) {
    check_task(c, 0, 0,
               AttentionPositions{.queries = {.split = 0, .offset = {0, offset}}, .keys = {}});
  }
}

// The order of the tasks is open, and they inherit each other's workspace.
TEST(AttentionForwardTask, LeavesNothingBehindInItsWorkspace) {
  for (const AttentionCase& c : kCases) {
    AttentionFixture fixture(c);
    AttentionResults forth(c, c.dtype, DType::f32), back(c, c.dtype, DType::f32);
    const auto first = problem_of<float>(fixture.forward(forth));
    const auto second = problem_of<float>(fixture.forward(back));
    TaskWorkspace work(forward_words(first));
    for (Index task = 0; task < c.b * c.n; ++task) {
      forward_task(first, task, work.data());
    }
    for (Index task = c.b * c.n - 1; task >= 0; --task) {
      forward_task(second, task, work.data());
    }
    EXPECT_EQ(forth.o.bytes(), back.o.bytes());
    EXPECT_EQ(forth.lse.bytes(), back.lse.bytes());
  }
}

TEST(AttentionForwardTask, WorkspaceIsLinearInTheKeysAndAligned) {
  ForwardProblem<BFloat16> small, large;
  small.s = large.s = 4096;
  small.d = small.dv = large.d = large.dv = 40;
  small.s_kv = 640;
  large.s_kv = 6400;
  EXPECT_EQ(forward_words(small) % 16, 0);
  EXPECT_LT(forward_words(large), 10 * forward_words(small));
}

}  // namespace attention_forward_test
}  // namespace mpitron::kernels::host::attention
