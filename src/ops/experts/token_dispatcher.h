#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "autograd/context.h"
#include "comm/groups/parallel_groups.h"

namespace mpitron::ops {

/// Visits of this rank's tokens to experts, experts one after the other: the first counts[0] of the
/// n visits are those to expert 0, and so on; within an expert tokens ascend.
struct ExpertVisits {
  tensor::Tensor rows;          // [n], i64: the token's row in x
  autograd::Var probabilities;  // [n], fp32
  std::vector<Index> counts;    // of each expert of the layer
};

/// Input of the experts that lie here: the visits of all ranks of the group, by local expert. Their
/// order within an expert does not depend on timing.
struct ExpertInput {
  autograd::Var tokens;         // [m, h]
  autograd::Var probabilities;  // [m], fp32
  std::vector<Index> counts;    // of each local expert; sum m
  tensor::Tensor owners = {};   // [m], i64 of the host: numbers of adapters, 0: none; or absent
  struct Route;
  std::shared_ptr<const Route> route;  // the way back
};

/// How tokens travel to their experts and back (--moe-token-dispatcher-type).
enum class TokenDispatch { all_gather, all_to_all };

/// Brings tokens to the ranks that hold their experts. The experts of a layer lie on the ranks of a
/// group, in order, each cut over `expert_tensor` neighbours, which get the same tokens and each
/// give back a summand. In a group of one dispatch is ops::permute and combine is ops::unpermute.
///
/// All ranks of the group call both, in both passes, also without a token or a gradient. Both keep
/// nothing here: several microbatches may be under way.
///
/// Numerical contract: each token gets the sum over its visits, in the order of experts; a visit to
/// an expert in pieces is the sum over its pieces in rank order. Sums are in fp32 for half types,
/// in the type itself for others, and depend neither on timing nor on what other tokens do.
class TokenDispatcher {
 public:
  virtual ~TokenDispatcher() = default;
  /// x: [t, h], t the same on all ranks. `overlapped_work` runs once, in all_to_all while tokens
  /// travel, and so does the backward pass of what it records.
  virtual ExpertInput dispatch(autograd::Context& context, const autograd::Var& x,
                               const ExpertVisits& visits,
                               const std::function<void()>& overlapped_work) const = 0;
  ExpertInput dispatch(autograd::Context& context, const autograd::Var& x,
                       const ExpertVisits& visits) const {
    return dispatch(context, x, visits, [] {});
  }
  /// y: [m, h], what the experts made of input.tokens. [t, h]: the sum over the visits of each
  /// token; zeros for a token that visits none.
  virtual autograd::Var combine(autograd::Context& context, const autograd::Var& y,
                                const ExpertInput& input) const = 0;
};

/// Makes the dispatcher for layers of `num_experts` experts; `groups` gives the ranks.
std::unique_ptr<TokenDispatcher> make_token_dispatcher(TokenDispatch kind, Index num_experts,
                                                       const comm::ParallelGroups& groups);

}  // namespace mpitron::ops
