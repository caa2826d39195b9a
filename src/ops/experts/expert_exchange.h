#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "autograd/context.h"
#include "comm/groups/parallel_groups.h"

namespace mpitron::ops {

/// The ranks that hold the experts of a layer, each of them an even run of experts: neighbours, so
/// many as `tensor_ranks`, hold the shards of the same ones.
struct ExpertRanks {
  comm::GroupHandle group;
  Index tensor_ranks = 1;
  Index experts = 1;  // of the layer

  Index local_experts() const { return experts * tensor_ranks / group->size(); }
  /// The first expert that lies on a member.
  Index first_expert(Index member) const { return member / tensor_ranks * local_experts(); }
};

/// Rows that are sorted by expert travel to the ranks that hold the experts, and back. All ranks of
/// the group make one together and call the same functions in the same order, also without rows.
///
/// Numerical contract: rows are copied; the sum over the shards of an expert is taken in rank
/// order, in fp32 for half types, and rounded once.
class ExpertExchange {
 public:
  /// `counts`: this rank's rows for each expert of the layer.
  ExpertExchange(autograd::Context& context, ExpertRanks ranks, const std::vector<Index>& counts);

  /// Nobody else has experts: rows stay where they are.
  bool alone() const { return ranks_.group->size() == 1; }
  /// Returns, of each expert here, the rows of all members.
  const std::vector<Index>& local_counts() const { return local_counts_; }
  /// [n, w] or [n], by expert -> [m, w] or [m], by local expert, and of each expert member by
  /// member. A row goes to every shard of its expert.
  tensor::Tensor to_experts(autograd::Context& context, const tensor::Tensor& x) const {
    return alone() ? x : arrived_at_experts(context, sent_to_experts(context, x));
  }
  /// Back; the sums over the shards.
  tensor::Tensor from_experts(autograd::Context& context, const tensor::Tensor& y) const {
    return alone() ? y : arrived_from_experts(context, sent_from_experts(context, y));
  }

  /// Rows on their way.
  struct Transfer {
    tensor::Tensor sent, received;
    comm::Work work;
  };
  // Both ways in two steps, between which something else may run.
  Transfer sent_to_experts(autograd::Context& context, const tensor::Tensor& x) const;
  tensor::Tensor arrived_at_experts(autograd::Context& context, Transfer transfer) const;
  Transfer sent_from_experts(autograd::Context& context, const tensor::Tensor& y) const;
  tensor::Tensor arrived_from_experts(autograd::Context& context, Transfer transfer) const;

 private:
  /// Run of rows that has one place in one order and another one in the other.
  struct Block {
    Index here = 0, there = 0, rows = 0;
  };
  /// Rows of x in another order: each block from its one place to the other.
  static tensor::Tensor moved(autograd::Context& context, const tensor::Tensor& x,
                              const std::vector<Block>& blocks, Index Block::*from,
                              Index Block::*to);
  void add_sent(const std::vector<Index>& counts);
  void add_received(const std::int64_t* counts);
  Transfer start(autograd::Context& context, const tensor::Tensor& x,
                 const std::vector<Index>& sent, const std::vector<Index>& received) const;
  tensor::Tensor sum_of_shards(autograd::Context& context, const tensor::Tensor& x) const;

  ExpertRanks ranks_;
  std::vector<Index> local_counts_;
  Index rows_here_ = 0;                 // n
  std::vector<Index> sent_, received_;  // rows to and from each member
  std::vector<Block> copies_;           // from "by expert" to "by member": a block for each member
  std::vector<Block> sorting_;          // from "by member" to "by local expert"
};

using ExchangeHandle = std::shared_ptr<const ExpertExchange>;

// The same as parts of a pass, each the gradient of the other. Where no gradient arrives it is
// zero: whoever gets none still takes part in the exchange. In a group of one both are x itself.
// While rows travel, `context.recorder.deferred` is told (autograd/deferred_gradients.h).

/// All of `xs` travel at once. `overlapped_work` runs, and its backward pass as well, on their way.
std::vector<autograd::Var> to_experts(
    autograd::Context& context, const std::vector<autograd::Var>& xs,
    const ExchangeHandle& exchange, const std::function<void()>& overlapped_work = [] {});
autograd::Var from_experts(autograd::Context& context, const autograd::Var& y,
                           const ExchangeHandle& exchange);

}  // namespace mpitron::ops
