// Exchanges pieces of matrices for optimizers that need whole ones. Segments are sorted by member
// and sent in one all-to-all each way; ranks without a matrix take part with nothing.
#include "optim/matrices/matrix_exchange.h"

#include <algorithm>
#include <numeric>

#include "kernels/elementwise/elementwise.h"
#include "optim/matrices/tensor_arithmetic.h"

namespace mpitron::optim {
namespace {

using tensor::Tensor;

/// The pieces of every member.
std::vector<std::vector<MatrixPiece>> all_pieces(comm::Group* group, std::vector<MatrixPiece> own) {
  if (group == nullptr || group->size() == 1) {
    return {std::move(own)};
  }
  std::vector<std::int64_t> numbers = numbers_of(own);
  const auto longest = static_cast<Index>(
      group->reduce(static_cast<double>(numbers.size()), comm::Reduction::maximum));
  numbers.resize(static_cast<std::size_t>(longest));
  std::vector<std::int64_t> all(static_cast<std::size_t>(longest * group->size()));
  group
      ->all_gather({numbers.data(), DType::i64, {longest}},
                   {all.data(), DType::i64, {longest * group->size()}})
      .wait();
  std::vector<std::vector<MatrixPiece>> members;
  for (Index member = 0; member < group->size(); ++member) {
    members.push_back(pieces_of(std::span(all).subspan(static_cast<std::size_t>(member * longest),
                                                       static_cast<std::size_t>(longest))));
  }
  return members;
}

Index sum_of(const std::vector<Index>& counts) {
  return std::accumulate(counts.begin(), counts.end(), Index{0});
}

/// Returns the place where the segment of each member begins.
std::vector<Index> begins_of(const std::vector<Index>& counts) {
  std::vector<Index> begins(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), Index{0});
  return begins;
}

/// The numbers of shards of one matrix, each flat, as they are met.
class ShardTensors {
 public:
  template <class Make>
  const Tensor& of(const tensor::Shard& shard, const Make& make) {
    const auto known = std::ranges::find(shards_, shard, &Shard::first);
    return known != shards_.end() ? known->second : shards_.emplace_back(shard, make()).second;
  }
  const auto& all() const { return shards_; }

 private:
  using Shard = std::pair<tensor::Shard, Tensor>;
  std::vector<Shard> shards_;
};

}  // namespace

MatrixExchange::MatrixExchange(device::Device& device, comm::GroupHandle group,
                               std::vector<MatrixPiece> own)
    : device_(device),
      group_(std::move(group)),
      members_(all_pieces(group_.get(), std::move(own))),
      plan_(plan_matrices(members_)) {}

const MatrixPiece& MatrixExchange::piece_of(const MatrixPlan::Part& part) const {
  return members_[static_cast<std::size_t>(part.member)][part.piece];
}

const MatrixPlan::Matrix* MatrixExchange::owned(const Round& round) const {
  const auto own = std::ranges::find(round, rank(), &MatrixPlan::Matrix::owner);
  return own == round.end() ? nullptr : &*own;
}

std::size_t MatrixExchange::own_piece(const MatrixPlan::Matrix& matrix) const {
  return std::ranges::find(matrix.holders, rank(), &MatrixPlan::Part::member)->piece;
}

std::vector<std::size_t> MatrixExchange::worked_on() const {
  std::vector<std::size_t> pieces;
  if (members_.size() == 1) {
    pieces.resize(members_.front().size());
    std::iota(pieces.begin(), pieces.end(), std::size_t{0});
    return pieces;
  }
  for (const Round& round : plan_.rounds) {
    if (const MatrixPlan::Matrix* const own = owned(round)) {
      pieces.push_back(own_piece(*own));
    }
  }
  return pieces;
}

void MatrixExchange::copy(const Tensor& from, const Tensor& to) {
  device::launch(device_.stream(), kernels::Cast{.x = from.view(), .y = to.view()});
}

Tensor MatrixExchange::exchanged(const Tensor& sent, const std::vector<Index>& to,
                                 const std::vector<Index>& from) {
  const Tensor received = Tensor::empty(device_, {sum_of(from)}, DType::f32);
  group_->all_to_all(sent, received, to, from).wait();
  return received;
}

/// The matrix that is this rank's in the round; empty where none is. Replicas of a piece are asked
/// for it as well: what it comes from goes on alike on all of them.
Tensor MatrixExchange::gather(const Round& round, const Work& work) {
  std::vector<Index> to(members_.size(), 0), from = to;
  std::vector<std::pair<Index, Tensor>> given;  // to whom
  for (const MatrixPlan::Matrix& matrix : round) {
    for (const MatrixPlan::Part& part : matrix.holders) {
      const bool source = std::ranges::find(matrix.sources, part) != matrix.sources.end();
      const Index numel = source ? piece_of(part).numel : 0;
      if (matrix.owner == rank()) {
        from[static_cast<std::size_t>(part.member)] += numel;
      }
      if (part.member == rank()) {
        const Tensor numbers = work.give(part.piece);
        to[static_cast<std::size_t>(matrix.owner)] += numel;
        if (source) {
          given.emplace_back(matrix.owner, numbers);
        }
      }
    }
  }
  const Tensor sent = Tensor::empty(device_, {sum_of(to)}, DType::f32);
  std::vector<Index> at = begins_of(to);
  for (const auto& [owner, numbers] : given) {
    Index& begin = at[static_cast<std::size_t>(owner)];
    copy(numbers, sent.slice(0, begin, begin + numbers.numel()));
    begin += numbers.numel();
  }
  const Tensor received = exchanged(sent, to, from);
  const MatrixPlan::Matrix* const own = owned(round);
  return own == nullptr ? Tensor() : joined(own->sources, received);
}

/// The matrix of its pieces, which lie by member one behind the other.
Tensor MatrixExchange::joined(const Parts& sources, const Tensor& received) {
  const Shape& shape = piece_of(sources.front()).shape;
  std::vector<Index> counts(members_.size(), 0);
  for (const MatrixPlan::Part& part : sources) {
    counts[static_cast<std::size_t>(part.member)] += piece_of(part).numel;
  }
  std::vector<Index> at = begins_of(counts);
  ShardTensors shards;
  for (const MatrixPlan::Part& part : sources) {
    const MatrixPiece& piece = piece_of(part);
    const Tensor& shard = shards.of(piece.shard, [&] {
      return Tensor::empty(device_, {piece.shard.local(shape).numel()}, DType::f32);
    });
    Index& begin = at[static_cast<std::size_t>(part.member)];
    copy(received.slice(0, begin, begin + piece.numel),
         shard.slice(0, piece.begin, piece.begin + piece.numel));
    begin += piece.numel;
  }
  if (shards.all().front().first.whole()) {
    return shards.all().front().second.reshape(shape);
  }
  const Tensor whole = Tensor::empty(device_, shape, DType::f32);
  for (const auto& [shard, numbers] : shards.all()) {
    tensor::for_each_range(shard, whole.view(), numbers.reshape(shard.local(shape)).view(),
                           [this](const auto& global, const auto& local) {
                             device::launch(device_.stream(), kernels::Cast{local, global});
                           });
  }
  return whole;
}

Tensor MatrixExchange::flat_shard(const tensor::Shard& shard, const Tensor& matrix) {
  if (shard.whole()) {
    return flat(matrix);
  }
  const Tensor local = Tensor::empty(device_, shard.local(matrix.shape()), DType::f32);
  tensor::for_each_range(shard, matrix.view(), local.view(),
                         [this](const auto& global, const auto& own) {
                           device::launch(device_.stream(), kernels::Cast{global, own});
                         });
  return flat(local);
}

void MatrixExchange::scatter(const Round& round, const Tensor& made, const Work& work) {
  std::vector<Index> to(members_.size(), 0), from = to;
  for (const MatrixPlan::Matrix& matrix : round) {
    for (const MatrixPlan::Part& part : matrix.holders) {
      if (matrix.owner == rank()) {
        to[static_cast<std::size_t>(part.member)] += piece_of(part).numel;
      }
      if (part.member == rank()) {
        from[static_cast<std::size_t>(matrix.owner)] += piece_of(part).numel;
      }
    }
  }
  const Tensor sent = Tensor::empty(device_, {sum_of(to)}, DType::f32);
  if (const MatrixPlan::Matrix* const own = owned(round)) {
    std::vector<Index> at = begins_of(to);
    ShardTensors shards;
    for (const MatrixPlan::Part& part : own->holders) {
      const MatrixPiece& piece = piece_of(part);
      const Tensor& shard = shards.of(piece.shard, [&] { return flat_shard(piece.shard, made); });
      Index& begin = at[static_cast<std::size_t>(part.member)];
      copy(shard.slice(0, piece.begin, piece.begin + piece.numel),
           sent.slice(0, begin, begin + piece.numel));
      begin += piece.numel;
    }
  }
  const Tensor received = exchanged(sent, to, from);
  std::vector<Index> at = begins_of(from);
  for (const MatrixPlan::Matrix& matrix : round) {
    for (const MatrixPlan::Part& part : matrix.holders) {
      if (part.member == rank()) {
        Index& begin = at[static_cast<std::size_t>(matrix.owner)];
        const Index numel = piece_of(part).numel;
        work.take(part.piece, received.slice(0, begin, begin + numel));
        begin += numel;
      }
    }
  }
}

void MatrixExchange::run_alone(const Work& work) {
  const std::vector<MatrixPiece>& pieces = members_.front();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Tensor made = work.make(i, work.give(i).reshape(pieces[i].shape));
    work.take(i, flat(made));
  }
}

void MatrixExchange::run(const Work& work) {
  if (members_.size() == 1) {
    run_alone(work);
    return;
  }
  for (const Round& round : plan_.rounds) {
    const Tensor matrix = gather(round, work);
    Tensor made;
    if (const MatrixPlan::Matrix* const own = owned(round)) {
      made = work.make(own_piece(*own), matrix);
    }
    scatter(round, made, work);
  }
}

}  // namespace mpitron::optim
