#include "inference/scheduling/prompt_lookup.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace prompt_lookup_test {

Sequence sequence_of(TokenIds tokens) {
  return {.tokens = std::move(tokens)};
}

TEST(PromptLookup, ProposesWhatStoodBehindTheLongestRepetition) {
  const PromptLookup lookup;
  Sequence sequence = sequence_of({9, 1, 2, 3, 7, 2, 3, 8, 1, 2, 3});
  EXPECT_EQ(lookup.propose(sequence, 2), 2);
  EXPECT_EQ(sequence.drafts, 2);
  EXPECT_EQ(sequence.size(), 11);
  EXPECT_EQ(sequence.tokens[11], 7);
  EXPECT_EQ(sequence.tokens[12], 2);
}

TEST(PromptLookup, WhatRepeatsGoesOnRepeating) {
  const PromptLookup lookup;
  Sequence sequence = sequence_of({5, 6, 5, 6});
  EXPECT_EQ(lookup.propose(sequence, 4), 4);
  EXPECT_EQ(sequence.tokens, (TokenIds{5, 6, 5, 6, 5, 6, 5, 6}));
}

TEST(PromptLookup, ProposesNothingWithoutARepetition) {
  const PromptLookup lookup;
  Sequence different = sequence_of({1, 2, 3, 4}), once = sequence_of({3, 1, 2, 3});
  EXPECT_EQ(lookup.propose(different, 4), 0);
  EXPECT_EQ(lookup.propose(once, 4), 0);  // one token alone says nothing
  EXPECT_EQ(different.tokens.size(), 4u);
}

TEST(PromptLookup, StopsInFrontOfImages) {
  const PromptLookup lookup;
  Sequence sequence = sequence_of({1, 2, 3, -7, -8, 1, 2});
  EXPECT_EQ(lookup.propose(sequence, 4), 1);
  EXPECT_EQ(sequence.tokens.back(), 3);
}

}  // namespace prompt_lookup_test
}  // namespace mpitron::inference
