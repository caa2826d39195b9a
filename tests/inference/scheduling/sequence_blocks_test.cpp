#include "inference/scheduling/sequence_blocks.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace sequence_blocks_test {

constexpr Index kBlocks = 6;
const EngineShape kShape{.block_size = 4, .blocks = kBlocks};

Sequence sequence_of(Index tokens) {
  Sequence sequence{.prompt_size = tokens, .longest = tokens + 8};
  for (Index i = 0; i < tokens; ++i) {
    sequence.tokens.push_back(static_cast<TokenId>(i));
  }
  return sequence;
}

bool no_room() {
  return false;
}

TEST(SequenceBlocks, WhatIsSharedIsCopiedBeforeItIsWritten) {
  SequenceBlocks blocks(kShape, true);
  Sequence first = sequence_of(6), second;
  std::vector<PlaceCopy> copies;
  ASSERT_TRUE(blocks.grow(first, 6, copies, no_room));
  EXPECT_TRUE(copies.empty());
  first.computed = 6;
  blocks.share(first, second);
  EXPECT_EQ(second.blocks, first.blocks);
  EXPECT_EQ(blocks.room_within(second, 1), 0);  // the block of token 6 is not its own
  ASSERT_TRUE(blocks.grow(second, 7, copies, no_room));
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].from, first.blocks[1]);
  EXPECT_EQ(copies[0].to, second.blocks[1]);
  EXPECT_EQ(second.blocks[0], first.blocks[0]);
  EXPECT_EQ(blocks.room_within(second, 5), 2);
  blocks.give_back(first);
  blocks.give_back(second);
  EXPECT_EQ(blocks.available(), kBlocks);
}

TEST(SequenceBlocks, AskForRoomUntilThereIsSome) {
  SequenceBlocks blocks(kShape, false);
  Sequence large = sequence_of(20), small = sequence_of(8);
  std::vector<PlaceCopy> copies;
  ASSERT_TRUE(blocks.grow(large, 20, copies, no_room));
  EXPECT_FALSE(blocks.has_room(small));
  EXPECT_FALSE(blocks.grow(small, 8, copies, no_room));
  EXPECT_EQ(small.blocks.size(), 1u);
  EXPECT_TRUE(blocks.grow(small, 8, copies, [&] {
    blocks.give_back(large);
    return true;
  }));
}

TEST(SequenceBlocks, PrefixesAreFoundUpToTheLastToken) {
  SequenceBlocks blocks(kShape, true);
  Sequence first = sequence_of(8), same = sequence_of(8), other = sequence_of(8);
  std::vector<PlaceCopy> copies;
  blocks.grow(first, 8, copies, no_room);
  first.computed = 8;
  blocks.remember(first);
  blocks.give_back(first);
  blocks.find_prefix(same);
  EXPECT_EQ(same.computed, 4);
  other.salt = "another";
  blocks.find_prefix(other);
  EXPECT_EQ(other.computed, 0);
}

/// Without states behind it a known block is no place to begin; it goes with its block.
TEST(SequenceBlocks, PrefixesEndWhereStatesAreKept) {
  EngineShape shape = kShape;
  shape.states = 2;
  shape.snapshots = 2;
  SequenceBlocks blocks(shape, true);
  const KeptPositions positions{.block_size = 4, .interval = 4, .least = 4};
  Sequence first = sequence_of(12), same = sequence_of(13), large = sequence_of(24);
  std::vector<PlaceCopy> copies;
  blocks.grow(first, 12, copies, no_room);
  for (const Index computed : {8, 12}) {
    first.computed = computed;
    blocks.remember(first);
    if (computed == 8) {
      EXPECT_EQ(blocks.keep_states(first, positions), 2);
      EXPECT_EQ(blocks.keep_states(first, positions), std::nullopt);
    }
  }
  blocks.give_back(first);
  blocks.find_prefix(same);
  EXPECT_EQ(same.computed, 8);
  EXPECT_EQ(same.blocks.size(), 2u);
  EXPECT_EQ(same.states.place, 2);
  EXPECT_EQ(same.states.last, 8);
  EXPECT_EQ(same.states.known, 12);
  blocks.give_back(same);
  EXPECT_EQ(same.states.place, -1);
  EXPECT_EQ(blocks.kept_states(), 1);
  ASSERT_TRUE(blocks.grow(large, 24, copies, no_room));
  EXPECT_EQ(blocks.kept_states(), 0);
}

/// What an image's positions are depends on those behind them.
TEST(SequenceBlocks, PrefixesThatEndInAnImageAreNotTaken) {
  for (const bool whole : {false, true}) {
    EngineShape shape = kShape;
    shape.whole_images = whole;
    SequenceBlocks blocks(shape, true);
    Sequence first = sequence_of(12), same = sequence_of(12);
    for (Sequence* each : {&first, &same}) {
      std::fill_n(each->tokens.begin() + 5, 3, -1);
    }
    std::vector<PlaceCopy> copies;
    blocks.grow(first, 12, copies, no_room);
    first.computed = 12;
    blocks.remember(first);
    blocks.give_back(first);
    blocks.find_prefix(same);
    EXPECT_EQ(same.computed, whole ? 4 : 8);
    EXPECT_EQ(same.blocks.size(), whole ? 1U : 2U);
    blocks.give_back(same);
    EXPECT_EQ(blocks.available(), kBlocks);
  }
}

}  // namespace sequence_blocks_test
}  // namespace mpitron::inference
