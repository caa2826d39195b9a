#include "optim/matrices/matrix_exchange.h"

#include <gtest/gtest.h>

#include "comm/groups/world.h"
#include "support/tensors.h"

namespace mpitron::optim {
namespace matrix_exchange_test {

using tensor::Tensor;

constexpr Index kRows = 4, kColumns = 6;

/// Elements of a matrix count from 100 times its number on.
std::vector<double> numbers_of_matrix(std::uint64_t matrix) {
  std::vector<double> values(kRows * kColumns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(100 * matrix + i);
  }
  return values;
}

/// Those of a piece, in its order.
std::vector<double> numbers_of_piece(const MatrixPiece& piece) {
  const std::vector<double> whole = numbers_of_matrix(piece.matrix);
  const Shape local = piece.shard.local(piece.shape);
  std::vector<double> values;
  for (Index i = piece.begin; i < piece.begin + piece.numel; ++i) {
    Index row = i / local[1], column = i % local[1];
    if (!piece.shard.whole()) {
      (piece.shard.dim == 0 ? row : column) =
          piece.shard.global(piece.shard.dim == 0 ? row : column);
    }
    values.push_back(whole[static_cast<std::size_t>(row * kColumns + column)]);
  }
  return values;
}

/// Of four ranks: a matrix that all hold, one whose columns two ranks have and two more hold again,
/// and one of which each has some elements.
std::vector<MatrixPiece> pieces_of_rank(Index rank) {
  const Shape shape{kRows, kColumns};
  const tensor::Shard columns = tensor::even_shard(1, kColumns, {rank % 2, 2});
  const std::vector<Index> cuts{0, 5, 5, 20, 24};
  const Index begin = cuts[static_cast<std::size_t>(rank)];
  std::vector<MatrixPiece> pieces{
      {.matrix = 1, .shape = shape, .numel = shape.numel()},
      {.matrix = 2, .shape = shape, .shard = columns, .numel = shape.numel() / 2}};
  if (const Index end = cuts[static_cast<std::size_t>(rank + 1)]; end > begin) {
    pieces.push_back({.matrix = 3, .shape = shape, .begin = begin, .numel = end - begin});
  }
  return pieces;
}

/// Every piece is asked for once, also where another rank gives the same numbers.
TEST(MatrixExchange, WholeMatricesAreMadeAndTheirPartsComeBack) {
  comm::run_thread_world(4, [](comm::World& world) {
    const auto device = device::make_device("reference");
    const std::vector<MatrixPiece> pieces = pieces_of_rank(world.rank());
    MatrixExchange exchange(*device, world.all(), pieces);
    std::vector<int> given(pieces.size(), 0), taken(pieces.size(), 0);
    exchange.run({.give =
                      [&](std::size_t i) {
                        ++given[i];
                        return test::make_tensor(*device, {pieces[i].numel}, DType::f32,
                                                 numbers_of_piece(pieces[i]));
                      },
                  .make =
                      [&](std::size_t i, const Tensor& matrix) {
                        EXPECT_EQ(matrix.shape(), pieces[i].shape);
                        EXPECT_EQ(test::values_of(matrix), numbers_of_matrix(pieces[i].matrix));
                        return matrix;
                      },
                  .take =
                      [&](std::size_t i, const Tensor& part) {
                        ++taken[i];
                        EXPECT_EQ(test::values_of(part), numbers_of_piece(pieces[i]));
                      }});
    const std::vector<int> once(pieces.size(), 1);
    EXPECT_EQ(given, once);
    EXPECT_EQ(taken, once);
  });
}

TEST(MatrixExchange, AloneNothingTravels) {
  const auto device = device::make_device("reference");
  MatrixExchange exchange(*device, nullptr,
                          {{.matrix = 1, .shape = {kRows, kColumns}, .numel = kRows * kColumns}});
  const Tensor own =
      test::make_tensor(*device, {kRows * kColumns}, DType::f32, numbers_of_matrix(1));
  std::vector<double> taken;
  exchange.run({.give = [&](std::size_t) { return own; },
                .make = [](std::size_t, const Tensor& matrix) { return matrix; },
                .take = [&](std::size_t, const Tensor& part) { taken = test::values_of(part); }});
  EXPECT_EQ(taken, numbers_of_matrix(1));
}

}  // namespace matrix_exchange_test
}  // namespace mpitron::optim
