#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/shard.h"

namespace mpitron::optim {

/// Part of a matrix that a rank updates: elements [begin, begin + numel) of a shard, flat.
struct MatrixPiece {
  std::uint64_t matrix = 0;  // which; the same number on all ranks
  Shape shape = {};          // of the matrix, [out, in]
  tensor::Shard shard = {};
  Index begin = 0, numel = 0;

  bool same_place(const MatrixPiece& other) const {
    return shard == other.shard && begin == other.begin && numel == other.numel;
  }
};

/// Plan of matrices: which member of a group works on which, and who gives and takes its pieces.
struct MatrixPlan {
  struct Part {
    Index member = 0;
    std::size_t piece = 0;  // of the member's
    bool operator==(const Part&) const = default;
  };
  struct Matrix {
    Index owner = 0;
    std::vector<Part> sources;  // have every element once
    std::vector<Part> holders;  // all that have a part of it
  };
  /// Rounds of the plan, in each of which a member owns at most one matrix.
  std::vector<std::vector<Matrix>> rounds;
};

/// `members`: the pieces of each, by rank; every matrix is whole over all of them. Matrices go to
/// members that hold a part of them, the most expensive ones first, each to whom has least to do:
/// the same plan on every rank. What several members hold is given by the owner, if it is one of
/// them, else by the first. In a world without peers all members seem to hold the same pieces:
/// there each gives its own, as if it were another one.
MatrixPlan plan_matrices(std::span<const std::vector<MatrixPiece>> members);

/// A rank's pieces as numbers that travel, and back.
std::vector<std::int64_t> numbers_of(std::span<const MatrixPiece> pieces);
std::vector<MatrixPiece> pieces_of(std::span<const std::int64_t> numbers);

}  // namespace mpitron::optim
