#include "inference/scheduling/sequence_limits.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace sequence_limits_test {

constexpr EngineShape kShape{
    .block_size = 4, .blocks = 4, .slots = 2, .max_step_tokens = 8, .max_positions = 64};

Sequence sequence_of(Index prompt, Index longest) {
  Sequence sequence{.prompt_size = prompt, .longest = longest};
  sequence.tokens.assign(static_cast<std::size_t>(prompt), 1);
  return sequence;
}

TEST(SequenceLimits, LengthsOfModelAndCacheHold) {
  EXPECT_NO_THROW(check_length(sequence_of(10, 16), kShape, {4, 0}));
  EXPECT_THROW(check_length(sequence_of(0, 16), kShape, {4, 0}), Error);
  EXPECT_THROW(check_length(sequence_of(10, 65), kShape, {4, 0}), Error);
  EXPECT_THROW(check_length(sequence_of(10, 16), kShape, {4, 1}), Error);
}

/// Each owner has as many blocks as the others.
TEST(SequenceLimits, BlocksThatOwnersDoNotShareAreNotCounted) {
  EngineShape shape = kShape;
  shape.blocks = 5;
  shape.block_owners = 2;
  EXPECT_THROW(check_length(sequence_of(10, 20), shape, {5, 0}), Error);
}

TEST(SequenceLimits, ImagesFitIntoAStepBesideAnswers) {
  EngineShape shape = kShape;
  shape.whole_images = true;
  Sequence sequence = sequence_of(8, 9);
  std::fill_n(sequence.tokens.begin() + 1, 6, -1);
  EXPECT_NO_THROW(check_images(sequence, shape, 0));
  EXPECT_THROW(check_images(sequence, shape, 3), Error);
}

}  // namespace sequence_limits_test
}  // namespace mpitron::inference
