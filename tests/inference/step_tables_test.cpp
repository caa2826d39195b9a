#include "inference/step_tables.h"

#include <gtest/gtest.h>

#include "support/far_device.h"
#include "tensor/host_copy.h"

namespace mpitron::inference {
namespace step_tables_test {

using Words = std::vector<std::int64_t>;

Words words_of(device::Device& device, const tensor::Tensor& table) {
  const tensor::Tensor host = tensor::to_host(device, table);
  return {host.data<std::int64_t>(), host.data<std::int64_t>() + host.numel()};
}

TEST(StepTables, NumbersReachTheDevice) {
  const auto device = test::make_far_device();
  const Words values = {3, 1, 4, 1, 5};
  EXPECT_EQ(words_of(*device, on_device(*device, values)), values);
}

/// Two rows of a sequence at positions 9 and 10, then one of another at position 4, and a row that
/// only fills up: its position is -1.
TEST(StepTables, ATableSaysWhereBlocksOfRowsLie) {
  const auto device = test::make_far_device();
  const std::vector<Index> first = {7, 2}, second = {5};
  const std::vector<kernels::CachedPiece> pieces = {
      {.rows = 2, .first_position = 9, .blocks = first},
      {.first_row = 2, .rows = 1, .first_position = 4, .blocks = second}};
  Words words;
  EXPECT_EQ(words_of(*device, piece_table(*device, pieces, 4, true, words)),
            Words({9, 8, 10, 8, 4, 10, -1, -1, 7, 2, 5}));
  EXPECT_EQ(words_of(*device, piece_table(*device, pieces, 4, false, words)),
            Words({9, 8, 9, 8, 4, 10, -1, -1, 7, 2, 5}));
  EXPECT_FALSE(piece_table(*device, {}, 4, true, words));
}

TEST(StepTables, TheHostNeedsNone) {
  const auto device = device::make_device("host");
  const std::vector<kernels::CachedPiece> pieces = {{.rows = 1}};
  Words words;
  EXPECT_FALSE(piece_table(*device, pieces, 1, true, words));
}

/// Two words, an image of three positions, a word that was drafted behind the ids.
TEST(StepTables, PiecesOfImagesAreCutOut) {
  const std::vector<Index> blocks = {7, 2};
  const TokenIds ids = {5, 6, -1, -2, -3};
  const kernels::CachedPiece all{.first_row = 4, .rows = 6, .first_position = 9, .blocks = blocks};
  std::vector<kernels::CachedPiece> pieces;
  append_pieces(all, ids, pieces);
  ASSERT_EQ(pieces.size(), 3U);
  const auto expect = [](const kernels::CachedPiece& piece, Index row, Index rows, bool together) {
    EXPECT_EQ(piece.first_row, row);
    EXPECT_EQ(piece.rows, rows);
    EXPECT_EQ(piece.first_position, row + 5);
    EXPECT_EQ(piece.together, together);
    EXPECT_EQ(piece.blocks.size(), 2U);
  };
  expect(pieces[0], 4, 2, false);
  expect(pieces[1], 6, 3, true);
  expect(pieces[2], 9, 1, false);
  append_pieces(all, {}, pieces);
  ASSERT_EQ(pieces.size(), 4U);
  expect(pieces[3], 4, 6, false);
}

/// Positions 5 to 13 of chunks of eight, on blocks of four; and one token far behind.
TEST(StepTables, PiecesOfChunksBeginWithTheirChunk) {
  const std::vector<Index> first = {7, 2, 4, 9}, second = {0, 1, 2, 3, 5, 6, 8};
  const auto cut = pieces_of_chunks(
      std::vector<kernels::CachedPiece>{
          {.rows = 9, .first_position = 5, .blocks = first},
          {.first_row = 9, .rows = 1, .first_position = 27, .blocks = second}},
      8, 4);
  ASSERT_EQ(cut.size(), 3U);
  EXPECT_EQ(cut[0].rows, 3);
  EXPECT_EQ(cut[0].first_position, 5);
  EXPECT_EQ(cut[1].first_row, 3);
  EXPECT_EQ(cut[1].rows, 6);
  EXPECT_EQ(cut[1].first_position, 0);
  EXPECT_EQ(cut[1].blocks[0], 4);
  EXPECT_EQ(cut[2].first_row, 9);
  EXPECT_EQ(cut[2].first_position, 3);
  EXPECT_EQ(cut[2].blocks.size(), 1U);
  EXPECT_EQ(cut[2].blocks[0], 8);
}

}  // namespace step_tables_test
}  // namespace mpitron::inference
