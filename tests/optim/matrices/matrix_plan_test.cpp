#include "optim/matrices/matrix_plan.h"

#include <map>

#include <gtest/gtest.h>

namespace mpitron::optim {
namespace matrix_plan_test {

/// Rows [begin, end) of a matrix of 8 rows and 4 columns, in flat cuts.
std::vector<MatrixPiece> half(std::uint64_t matrix, Index rank, Index cuts, Index cut) {
  MatrixPiece piece{.matrix = matrix, .shape = {8, 4}};
  piece.shard.ranges = {{rank * 4, rank * 4 + 4}};
  piece.numel = 16 / cuts, piece.begin = cut * piece.numel;
  return {piece};
}

TEST(MatrixPlan, EachMatrixHasEveryElementOnceAndAllItsHolders) {
  std::vector<std::vector<MatrixPiece>> members;
  for (const Index rank : {0, 0, 1, 1}) {  // two replicas of two halves
    members.push_back(half(7, rank, 1, 0));
  }
  const MatrixPlan plan = plan_matrices(members);
  ASSERT_EQ(plan.rounds.size(), 1u);
  ASSERT_EQ(plan.rounds[0].size(), 1u);
  const MatrixPlan::Matrix& matrix = plan.rounds[0][0];
  EXPECT_EQ(matrix.owner, 0);
  EXPECT_EQ(matrix.sources.size(), 2u);
  EXPECT_EQ(matrix.holders.size(), 4u);
}

/// Four equal matrices of two members that hold all of each: two each, one in a round.
TEST(MatrixPlan, MembersShareTheWork) {
  std::vector<MatrixPiece> pieces;
  for (std::uint64_t matrix = 1; matrix <= 4; ++matrix) {
    pieces.push_back({.matrix = matrix, .shape = {8, 4}, .numel = 32});
  }
  const std::vector<std::vector<MatrixPiece>> members{pieces, pieces};
  const MatrixPlan plan = plan_matrices(members);
  ASSERT_EQ(plan.rounds.size(), 2u);
  std::map<Index, Index> owned;
  for (const auto& round : plan.rounds) {
    EXPECT_EQ(round.size(), 2u);
    for (const MatrixPlan::Matrix& matrix : round) {
      ++owned[matrix.owner];
      ASSERT_EQ(matrix.sources.size(), 1u);
      EXPECT_EQ(matrix.sources[0].member, matrix.owner);  // nothing travels there
    }
  }
  EXPECT_EQ(owned, (std::map<Index, Index>{{0, 2}, {1, 2}}));
}

/// A replay of one rank sees its own pieces on every rank.
TEST(MatrixPlan, AmongRanksThatAreNotThereEachGivesAPiece) {
  const std::vector<std::vector<MatrixPiece>> members{half(7, 1, 1, 0), half(7, 1, 1, 0)};
  const MatrixPlan plan = plan_matrices(members);
  ASSERT_EQ(plan.rounds.size(), 1u);
  EXPECT_EQ(plan.rounds[0][0].sources, plan.rounds[0][0].holders);
  EXPECT_EQ(plan.rounds[0][0].sources.size(), 2u);
}

TEST(MatrixPlan, OnlyHoldersOwn) {
  std::vector<MatrixPiece> large{{.matrix = 1, .shape = {64, 64}, .numel = 64 * 64}};
  const std::vector<std::vector<MatrixPiece>> members{
      large, {}, half(2, 0, 1, 0), half(2, 1, 1, 0)};
  const MatrixPlan plan = plan_matrices(members);
  for (const MatrixPlan::Matrix& matrix : plan.rounds[0]) {
    EXPECT_TRUE(matrix.owner == 0 || matrix.owner == 2) << matrix.owner;
  }
}

TEST(MatrixPlan, PiecesTravelAsNumbers) {
  std::vector<MatrixPiece> pieces = half(3, 1, 2, 1);
  pieces.push_back({.matrix = ~std::uint64_t{0}, .shape = {2, 5}, .begin = 3, .numel = 7});
  std::vector<std::int64_t> numbers = numbers_of(pieces);
  numbers.resize(numbers.size() + 5);  // as long as the longest member's
  const std::vector<MatrixPiece> back = pieces_of(numbers);
  ASSERT_EQ(back.size(), pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(back[i].matrix, pieces[i].matrix);
    EXPECT_EQ(back[i].shape, pieces[i].shape);
    EXPECT_TRUE(back[i].same_place(pieces[i]));
  }
}

}  // namespace matrix_plan_test
}  // namespace mpitron::optim
