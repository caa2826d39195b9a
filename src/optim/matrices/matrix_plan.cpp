// Decides which rank updates which matrix: the most expensive first, to the holder with the least
// to do. All ranks compute the same plan from the same numbers, so nothing is agreed upon.
#include "optim/matrices/matrix_plan.h"

#include <algorithm>
#include <map>

#include "utils/check.h"

namespace mpitron::optim {
namespace {

using Members = std::span<const std::vector<MatrixPiece>>;
using Part = MatrixPlan::Part;

const MatrixPiece& piece_of(const Members& members, const Part& part) {
  return members[static_cast<std::size_t>(part.member)][part.piece];
}

/// Multiply-adds of a step of the iteration: two products with the larger dimension, one without.
double cost_of(const Shape& shape) {
  const auto least = static_cast<double>(std::min(shape[0], shape[1]));
  const auto most = static_cast<double>(std::max(shape[0], shape[1]));
  return least * least * (2 * most + least);
}

/// Returns, of the holders, the one with the least to do.
Index owner_of(const std::vector<Part>& holders, const std::vector<double>& loads) {
  return std::ranges::min_element(
             holders, {},
             [&](const Part& part) { return loads[static_cast<std::size_t>(part.member)]; })
      ->member;
}

/// Returns whether every member has the same pieces, as all of a replay seem to have: replicas, or
/// a rank whose peers are not there (make_recording_world).
bool all_alike(const Members& members) {
  return std::ranges::all_of(members, [&](const std::vector<MatrixPiece>& pieces) {
    return std::ranges::equal(pieces, members.front(),
                              [](const MatrixPiece& one, const MatrixPiece& other) {
                                return one.matrix == other.matrix && one.same_place(other);
                              });
  });
}

/// Where the pieces are not the whole matrix, peers are not there: each holder then gives one.
std::vector<Part> sources_of(const Members& members, const std::vector<Part>& holders,
                             Index owner) {
  std::vector<Part> sources;
  Index elements = 0;
  for (const Part& part : holders) {
    const MatrixPiece& piece = piece_of(members, part);
    const auto known = std::ranges::find_if(
        sources, [&](const Part& other) { return piece_of(members, other).same_place(piece); });
    if (known == sources.end()) {
      sources.push_back(part);
      elements += piece.numel;
    } else if (part.member == owner) {
      *known = part;
    }
  }
  const Shape& shape = piece_of(members, holders.front()).shape;
  if (elements != shape.numel()) {
    MPITRON_CHECK(all_alike(members), elements, to_string(shape));
    return holders;
  }
  return sources;
}

}  // namespace

MatrixPlan plan_matrices(Members members) {
  std::map<std::uint64_t, std::vector<Part>> holders;
  std::vector<std::uint64_t> order;  // as they are met
  for (Index member = 0; member < static_cast<Index>(members.size()); ++member) {
    const auto& pieces = members[static_cast<std::size_t>(member)];
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      std::vector<Part>& parts = holders[pieces[i].matrix];
      if (parts.empty()) {
        order.push_back(pieces[i].matrix);
      }
      parts.push_back({member, i});
    }
  }
  const auto cost = [&](std::uint64_t matrix) {
    return cost_of(piece_of(members, holders.at(matrix).front()).shape);
  };
  std::ranges::stable_sort(order, std::greater(), cost);
  MatrixPlan plan;
  std::vector<double> loads(members.size(), 0);
  std::vector<std::size_t> owned(members.size(), 0);
  for (const std::uint64_t matrix : order) {
    const std::vector<Part>& parts = holders.at(matrix);
    const Index owner = owner_of(parts, loads);
    loads[static_cast<std::size_t>(owner)] += cost(matrix);
    const std::size_t round = owned[static_cast<std::size_t>(owner)]++;
    plan.rounds.resize(std::max(plan.rounds.size(), round + 1));
    plan.rounds[round].push_back({owner, sources_of(members, parts, owner), parts});
  }
  return plan;
}

std::vector<std::int64_t> numbers_of(std::span<const MatrixPiece> pieces) {
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(pieces.size())};
  for (const MatrixPiece& piece : pieces) {
    numbers.insert(numbers.end(), {static_cast<std::int64_t>(piece.matrix), piece.shape[0],
                                   piece.shape[1], piece.begin, piece.numel, piece.shard.dim,
                                   static_cast<std::int64_t>(piece.shard.ranges.size())});
    for (const tensor::Shard::Range& range : piece.shard.ranges) {
      numbers.insert(numbers.end(), {range.begin, range.end});
    }
  }
  return numbers;
}

std::vector<MatrixPiece> pieces_of(std::span<const std::int64_t> numbers) {
  std::size_t at = 0;
  const auto next = [&] { return numbers[at++]; };
  std::vector<MatrixPiece> pieces(static_cast<std::size_t>(next()));
  for (MatrixPiece& piece : pieces) {
    piece.matrix = static_cast<std::uint64_t>(next());
    const Index rows = next(), columns = next();
    piece.shape = {rows, columns};
    piece.begin = next(), piece.numel = next();
    piece.shard.dim = static_cast<int>(next());
    piece.shard.ranges.resize(static_cast<std::size_t>(next()));
    for (tensor::Shard::Range& range : piece.shard.ranges) {
      range.begin = next(), range.end = next();
    }
  }
  return pieces;
}

}  // namespace mpitron::optim
