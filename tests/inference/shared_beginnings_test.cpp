#include "tests/inference/shared_beginnings.h"

#include <gtest/gtest.h>

#include "inference/cached_engine.h"
#include "support/host_runtime.h"

// Prompts that begin alike, of models whose layers carry states.

namespace mpitron::inference {
namespace shared_beginnings_test {

using test::Cut;

test::SharedAnswers answers_of(const test::RandomDecoder& random, const Cut& cut, Index drafts,
                               const kernels::StateTypes& types = {}) {
  EngineShape shape = cut.shape(random.config);
  shape.snapshots = 6;
  shape.state_types = types;
  CachedEngine engine(*random.device, random.model, shape, test::kDecoderVocabulary);
  return test::answers_of_beginnings(engine,
                                     {.prefix_cache = cut.prefix_cache, .draft_tokens = drafts}, 2);
}

/// Bit for bit, with blocks of one size: prompts that are cut elsewhere, steps that are full,
/// blocks that run out, drafts.
TEST(SharedBeginnings, ChangeNoBitOfModelsWithStates) {
  for (const auto& flags : {test::letters("MM", 2), test::letters("M*G-", 4),
                            test::letters("GG", 2), test::letters("M*M", 3)}) {
    SCOPED_TRACE(flags[3]);
    const test::RandomDecoder random(flags);
    for (const Cut& cut : {Cut{8, 60, 4, 64}, Cut{16, 30, 2, 5}, Cut{8, 9, 4, 9}}) {
      const test::SharedAnswers want = answers_of(random, {cut.block_size, 60, 4, 64, false}, 0);
      EXPECT_EQ(want.cached, 0);
      for (const Index drafts : {0, 4}) {
        const test::SharedAnswers got = answers_of(random, cut, drafts);
        test::expect_same(got.answers, want.answers, 0);
        EXPECT_GT(got.cached, 40) << cut.blocks;
        EXPECT_EQ(got.preemptions > 0, cut.blocks == 9);
      }
    }
  }
}

/// States that are rounded as they are kept: behind every token, wherever a prompt is cut. bf16
/// rounds 8 times as much as fp16.
TEST(SharedBeginnings, ChangeNoBitWhereStatesAreRounded) {
  const test::RandomDecoder random(test::letters("M*G", 3));
  const test::SharedAnswers exact = answers_of(random, {8, 60, 4, 64, false}, 0);
  const std::vector<std::pair<kernels::StateTypes, double>> some = {
      {{.conv = DType::bf16, .recurrence = DType::bf16}, 1.6e-2},
      {{.conv = DType::f16, .recurrence = DType::f32}, 2e-3},
      {{.conv = DType::f32, .recurrence = DType::f16}, 2e-3}};
  for (const auto& [types, distance] : some) {
    const test::SharedAnswers want = answers_of(random, {8, 60, 4, 64, false}, 0, types);
    EXPECT_NE(want.answers[0].log_probs[7].token.value, exact.answers[0].log_probs[7].token.value);
    test::expect_near(want.answers[0].log_probs, exact.answers[0].log_probs, distance);
    for (const Cut& cut : {Cut{8, 60, 2, 5}, Cut{8, 9, 4, 9}}) {
      const test::SharedAnswers got = answers_of(random, cut, 4, types);
      test::expect_same(got.answers, want.answers, 0);
      EXPECT_GT(got.cached, 40);
    }
  }
}

/// Half precision, where the convolution's states are halves, too.
TEST(SharedBeginnings, ChangeNoBitOfHalfPrecision) {
  std::vector<std::string> flags = test::letters("M*G", 3);
  flags.emplace_back("--bf16");
  const test::RandomDecoder random(flags);
  const test::SharedAnswers want = answers_of(random, {8, 60, 4, 64, false}, 0);
  const test::SharedAnswers got = answers_of(random, {8, 60, 4, 64}, 0);
  test::expect_same(got.answers, want.answers, 0);
  EXPECT_GT(got.cached, 40);
}

}  // namespace shared_beginnings_test
}  // namespace mpitron::inference
