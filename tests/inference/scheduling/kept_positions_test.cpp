#include "inference/scheduling/kept_positions.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace kept_positions_test {

using Use = StateSnapshots::Use;
constexpr KeptPositions kPositions{.block_size = 4, .interval = 32, .least = 8};

/// Where a prompt is cut, one piece after the other.
std::vector<Index> cuts_of(Sequence sequence, Index step) {
  std::vector<Index> cuts;
  while (sequence.computed < sequence.size()) {
    sequence.computed +=
        kPositions.cut(sequence, std::min(step, sequence.size() - sequence.computed));
    if (kPositions.use_at(sequence, sequence.computed)) {
      sequence.states.last = sequence.computed;
      cuts.push_back(sequence.computed);
    }
  }
  return cuts;
}

Sequence sequence_of(Index prompt) {
  return {.tokens = TokenIds(static_cast<std::size_t>(prompt), 1),
          .prompt_size = prompt,
          .longest = prompt + 100};
}

TEST(KeptPositions, AreTheEndOfThePromptAndMultiplesOfTheInterval) {
  EXPECT_EQ(cuts_of(sequence_of(78), 100), (std::vector<Index>{32, 64, 76}));
  EXPECT_EQ(cuts_of(sequence_of(78), 7), (std::vector<Index>{32, 64, 76}));
  EXPECT_EQ(cuts_of(sequence_of(77), 100), (std::vector<Index>{32, 64, 76}));
  EXPECT_EQ(cuts_of(sequence_of(76), 100), (std::vector<Index>{32, 64, 72}));
  const Sequence sequence = sequence_of(78);
  EXPECT_EQ(kPositions.use_at(sequence, 32), Use::passing);
  EXPECT_EQ(kPositions.use_at(sequence, 76), Use::likely);
  EXPECT_EQ(kPositions.use_at(sequence, 96), Use::passing);  // of the answer
  EXPECT_EQ(kPositions.use_at(sequence, 75), std::nullopt);
}

TEST(KeptPositions, AreWhereATextPartsFromOthers) {
  Sequence sequence = sequence_of(78);
  sequence.states.known = 44;
  EXPECT_EQ(cuts_of(sequence, 100), (std::vector<Index>{32, 44, 64, 76}));
}

TEST(KeptPositions, LieApart) {
  EXPECT_EQ(cuts_of(sequence_of(8), 100), std::vector<Index>{});
  EXPECT_EQ(cuts_of(sequence_of(9), 100), std::vector<Index>{8});
  EXPECT_EQ(cuts_of(sequence_of(37), 100), std::vector<Index>{32});
  Sequence sequence = sequence_of(78);
  sequence.states.known = 36;
  EXPECT_EQ(cuts_of(sequence, 100), (std::vector<Index>{32, 64, 76}));
}

}  // namespace kept_positions_test
}  // namespace mpitron::inference
