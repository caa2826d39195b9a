#pragma once
#include <string>
#include <vector>

#include "comm/groups/request.h"
#include "comm/groups/work.h"

namespace mpitron::comm {

/// Some ranks of the world, in an order, with the operations among them. Every member calls the
/// same collectives in the same order; sends and receives between two members match in order.
/// A group of one does everything alone and at once, so callers never ask for the size first.
///
/// Numerical contract: sums run in group-rank order, in fp32 for half types (rounded once), in the
/// type itself for fp32, fp64 and integers. Every member gets the same bits, which depend neither
/// on timing nor on the size of pieces.
class Group {
 public:
  /// `ranks`: world ranks in group order; `rank`: this process' place among them.
  Group(std::string name, std::vector<Index> ranks, Index rank)
      : name_(std::move(name)), ranks_(std::move(ranks)), rank_(rank) {}
  virtual ~Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<Index>& ranks() const { return ranks_; }
  Index rank() const { return rank_; }
  Index size() const { return static_cast<Index>(ranks_.size()); }
  Index world_rank(Index member) const { return ranks_[static_cast<std::size_t>(member)]; }

  /// x = reduction of every member's x.
  Work all_reduce(const TensorView& x, Reduction reduction = Reduction::sum);
  /// x holds size() pieces; y = sum of every member's piece rank(). y may be that piece of x.
  Work reduce_scatter(const ConstTensorView& x, const TensorView& y);
  /// y = every member's x, in group order. x may be piece rank() of y.
  Work all_gather(const ConstTensorView& x, const TensorView& y);
  /// Equal pieces: piece j of x goes to member j, and becomes its piece rank().
  Work all_to_all(const ConstTensorView& x, const TensorView& y);
  /// `input_counts[j]` elements of x go to member j, `output_counts[j]` of y come from it.
  Work all_to_all(const ConstTensorView& x, const TensorView& y, std::vector<Index> input_counts,
                  std::vector<Index> output_counts);
  /// x = the root's x.
  Work broadcast(const TensorView& x, Index root);
  /// `label`: what the message is, equal at both ends; only records of a run show it.
  Work send(const ConstTensorView& x, Index to, Index label = 0);
  Work receive(const TensorView& x, Index from, Index label = 0);
  void barrier();

  /// One number of every member, reduced.
  double reduce(double value, Reduction reduction = Reduction::sum);

  /// Tells the transport of memory that travels in this group again and again, in the order of
  /// calls on every member (--use-nccl-ub); of no consequence where it has no use for it. `memory`:
  /// of Device::buffers.
  virtual void expect(const TensorView& memory);

  /// Any of these; for groups that hand on what they are asked. Its sizes fit.
  Work run(const Request& request);

 protected:
  /// Does what is left of an operation where nobody else takes part: at most a copy.
  virtual void run_alone(const Request& request);

 private:
  /// Starts an operation; only called in groups of several members.
  virtual Work start(const Request& request) = 0;

  std::string name_;
  std::vector<Index> ranks_;
  Index rank_;
};

}  // namespace mpitron::comm
