#include <gtest/gtest.h>

#include "kernels/host/attention/attention_heads.h"
#include "tests/kernels/attention_tasks.h"

namespace mpitron::kernels::host::attention {
namespace attention_backward_test {

constexpr AttentionCase kCases[] = {
    {.s = 37, .s_kv = 53, .b = 2, .n = 2, .g = 2, .d = 24, .dv = 40},
    {.s = 97, .s_kv = 97, .b = 2, .n = 2, .g = 2, .d = 64, .dv = 64, .window = 30},
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
    {.s = 1003, .s_kv = 1003, .b = 1, .n = 2, .g = 2, .d = 72, .dv = 8, .window = 127},
    {.s = 911, .s_kv = 131, .b = 1, .n = 2, .g = 2, .d = 16, .dv = 16, .window = 40},
    {.s = 101, .s_kv = 213, .b = 1, .n = 2, .g = 2, .d = 64, .dv = 64, .dropout = 0.2},
    {.s = 7, .s_kv = 65, .b = 2, .n = 2, .g = 2, .d = 128, .dv = 128, .causal = false, .masks = 2}};

/// One task alone: its three gradients are those of the reference, the others are as they were.
void check_task(const AttentionCase& c, Index batch, Index group) {
  SCOPED_TRACE(::testing::Message() << c << ": sample " << batch << ", group " << group);
  AttentionFixture fixture(c);
  AttentionResults expected(c, DType::f64, DType::f64), got(c, c.dtype, DType::f32);
  device::ReferenceStream reference;
  run(reference, fixture.forward(expected));
  run(reference, fixture.backward(expected));
  run(reference, fixture.forward(got));
  const auto problem = problem_of<float>(fixture.backward(got));
  TaskWorkspace work(backward_words(problem));
  backward_task(problem, batch * c.g + group, work.data());
  EXPECT_TRUE(work.guard_is_whole());
  auto &dx = got.gradients, &want = expected.gradients;
  expect_only_head(dx.q(), want.q(), batch, group, 1e-5);
  expect_only_head(dx.k(), want.k(), batch, group, 1e-5);
  expect_only_head(dx.v(), want.v(), batch, group, 1e-5);
}

TEST(AttentionBackwardTask, WritesItsGroupAndNothingElse) {
  for (const AttentionCase& c : kCases) {
    check_task(c, 0, 0);
    check_task(c, c.b - 1, c.g - 1);
  }
}

// dK and dV of a group are the sums over its query heads, as if each had keys of its own.
TEST(AttentionBackwardTask, KeyGradientsSumOverTheHeadsOfAGroup) {
  const AttentionCase c{.s = 41, .s_kv = 41, .n = 3, .g = 1, .d = 20, .dv = 20};
  AttentionFixture fixture(c);
  AttentionResults all(c, c.dtype, DType::f32);
  device::ReferenceStream reference;
  run(reference, fixture.forward(all));
  auto problem = problem_of<float>(fixture.backward(all));
  TaskWorkspace work(backward_words(problem));
  backward_task(problem, 0, work.data());
  const auto dk = values_of(all.gradients.k()), dv = values_of(all.gradients.v());
  std::vector<double> dk_sum(dk.size()), dv_sum(dv.size());
  problem.n = 1;
  for (Index head = 0; head < c.n; ++head) {
    auto one = problem;
    one.q.data += head * c.d;
    one.o.data += head * c.dv;
    one.d_o.data += head * c.dv;
    one.dq.own.data += head * c.d;
    one.lse += head * c.s;
    backward_task(one, 0, work.data());
    const auto k = values_of(all.gradients.k()), v = values_of(all.gradients.v());
    for (std::size_t i = 0; i < k.size(); ++i) {
      dk_sum[i] += k[i];
      dv_sum[i] += v[i];
    }
  }
  for (std::size_t i = 0; i < dk.size(); ++i) {
    ASSERT_NEAR(dk[i], dk_sum[i], 1e-5) << i;
    ASSERT_NEAR(dv[i], dv_sum[i], 1e-5) << i;
  }
}

TEST(AttentionBackwardTask, LeavesNothingBehindInItsWorkspace) {
  for (const AttentionCase& c : kCases) {
    AttentionFixture fixture(c);
    AttentionResults results(c, c.dtype, DType::f32);
    device::ReferenceStream reference;
    run(reference, fixture.forward(results));
    const auto problem = problem_of<float>(fixture.backward(results));
    TaskWorkspace work(backward_words(problem));
    auto& dx = results.gradients;
    std::vector<std::vector<double>> gradients;
    for (const bool reversed : {false, true}) {
      dx.poison();
      for (Index i = 0; i < c.b * c.g; ++i) {
        backward_task(problem, reversed ? c.b * c.g - 1 - i : i, work.data());
      }
      for (const auto& view : {dx.q(), dx.k(), dx.v()}) {
        gradients.push_back(values_of(view));
      }
    }
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(gradients[i], gradients[i + 3]);  // NaN is not equal: all is written, too
    }
  }
}

TEST(AttentionBackwardTask, WorkspaceIsLinearInTheSequence) {
  BackwardProblem<BFloat16> small, large;
  small.d = small.dv = large.d = large.dv = 40;
  small.s = small.s_kv = 960;
  large.s = large.s_kv = 9600;
  EXPECT_EQ(backward_words(small) % 16, 0);
  EXPECT_LE(backward_words(large), 10 * backward_words(small));
}

}  // namespace attention_backward_test
}  // namespace mpitron::kernels::host::attention
