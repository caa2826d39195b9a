#pragma once
#include <functional>

#include "comm/groups/group.h"
#include "comm/groups/parallel_groups.h"
#include "optim/matrices/matrix_plan.h"
#include "tensor/tensor.h"

namespace mpitron::optim {

/// Brings matrices together whose pieces are updated by several ranks, each on one rank, and what
/// that makes of them back to all that hold pieces. Numbers travel as they are, so the results do
/// not depend on who holds what.
class MatrixExchange {
 public:
  /// `group`: all that hold pieces of the same matrices; null: nobody else does. Every member calls
  /// this with its own pieces.
  MatrixExchange(device::Device& device, comm::GroupHandle group, std::vector<MatrixPiece> own);

  struct Work {
    /// The numbers of an own piece that come together, [n], fp32; asked for once a run, on every
    /// rank that holds it.
    std::function<tensor::Tensor(std::size_t piece)> give;
    /// [out, in] of a matrix of which this rank has that piece: another one of its shape.
    std::function<tensor::Tensor(std::size_t piece, const tensor::Tensor& matrix)> make;
    /// The part of what was made, [n], that belongs to an own piece.
    std::function<void(std::size_t piece, const tensor::Tensor& part)> take;
  };
  /// Every member at the same time.
  void run(const Work& work);
  /// The pieces that `make` is called with, one of each matrix that this rank works on.
  std::vector<std::size_t> worked_on() const;

 private:
  using Round = std::vector<MatrixPlan::Matrix>;
  using Parts = std::vector<MatrixPlan::Part>;

  const MatrixPiece& piece_of(const MatrixPlan::Part& part) const;
  Index rank() const { return group_ == nullptr ? 0 : group_->rank(); }
  const MatrixPlan::Matrix* owned(const Round& round) const;
  std::size_t own_piece(const MatrixPlan::Matrix& matrix) const;
  void run_alone(const Work& work);
  tensor::Tensor gather(const Round& round, const Work& work);
  void scatter(const Round& round, const tensor::Tensor& made, const Work& work);
  tensor::Tensor joined(const Parts& sources, const tensor::Tensor& received);
  tensor::Tensor flat_shard(const tensor::Shard& shard, const tensor::Tensor& matrix);
  tensor::Tensor exchanged(const tensor::Tensor& sent, const std::vector<Index>& to,
                           const std::vector<Index>& from);
  void copy(const tensor::Tensor& from, const tensor::Tensor& to);

  device::Device& device_;
  comm::GroupHandle group_;
  std::vector<std::vector<MatrixPiece>> members_;
  MatrixPlan plan_;
};

}  // namespace mpitron::optim
