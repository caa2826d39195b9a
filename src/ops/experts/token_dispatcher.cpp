// Brings tokens to the ranks of their experts and results back, by all-to-all or all-gather. All
// ranks of the group call both ways in the same order, also with no tokens, because the exchanges
// are collectives.
#include "ops/experts/token_dispatcher.h"

#include <algorithm>

#include "autograd/cached_pass.h"
#include "ops/experts/expert_exchange.h"
#include "ops/experts/permute.h"
#include "ops/parallel/tensor_parallel_regions.h"
#include "tensor/host_copy.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;
using tensor::Tensor;

struct ExpertInput::Route {
  ExchangeHandle exchange;
  Tensor rows;  // what the permutation gathered: rows of `tokens` tokens
  Index tokens;
};

namespace {

/// Numbers of the adapters that visiting rows have in generation, 0: none; absent where no rank's
/// rows can have one.
Tensor owners_of(Context& context, const Tensor& rows, bool alone) {
  const autograd::CachedPass* const pass = context.cached;
  if (pass == nullptr || (pass->adapted.empty() && (alone || pass->known.empty()))) {
    return {};
  }
  const Tensor visits = tensor::to_host(context.device, rows);
  const Tensor owners = tensor::empty_on_host(context.device, rows.shape(), DType::i64);
  for (Index i = 0; i < rows.numel(); ++i) {
    const std::int64_t row = visits.data<std::int64_t>()[i];
    const auto range = std::ranges::find_if(pass->adapted, [&](const autograd::AdaptedRows& each) {
      return each.first <= row && row < each.end;
    });
    owners.data<std::int64_t>()[i] = range == pass->adapted.end() ? 0 : range->adapter->number();
  }
  return owners;
}

/// The same where the experts are.
Tensor arrived_owners(Context& context, const ExpertExchange& exchange, const Tensor& rows) {
  const Tensor owners = owners_of(context, rows, exchange.alone());
  return owners ? exchange.to_experts(context, owners) : owners;
}

/// Visits travel: each token once for every expert it visits.
class AllToAllDispatcher final : public TokenDispatcher {
 public:
  explicit AllToAllDispatcher(ExpertRanks ranks) : ranks_(std::move(ranks)) {}

  ExpertInput dispatch(Context& context, const Var& x, const ExpertVisits& visits,
                       const std::function<void()>& overlapped_work) const override {
    const auto exchange = std::make_shared<const ExpertExchange>(context, ranks_, visits.counts);
    const Var sorted = permute(context, x, visits.rows);
    const std::vector<Var> arrived =
        to_experts(context, {sorted, visits.probabilities}, exchange, overlapped_work);
    return {.tokens = arrived[0],
            .probabilities = arrived[1],
            .counts = exchange->local_counts(),
            .owners = arrived_owners(context, *exchange, visits.rows),
            .route = std::make_shared<const ExpertInput::Route>(
                ExpertInput::Route{exchange, visits.rows, x.shape()[0]})};
  }

  Var combine(Context& context, const Var& y, const ExpertInput& input) const override {
    const ExpertInput::Route& route = *input.route;
    return unpermute(context, from_experts(context, y, route.exchange), route.rows, route.tokens);
  }

 private:
  ExpertRanks ranks_;
};

/// All ranks get all tokens and take those that visit their experts.
class AllGatherDispatcher final : public TokenDispatcher {
 public:
  explicit AllGatherDispatcher(ExpertRanks ranks) : ranks_(std::move(ranks)) {}

  ExpertInput dispatch(Context& context, const Var& x, const ExpertVisits& visits,
                       const std::function<void()>& overlapped_work) const override {
    overlapped_work();
    const auto exchange = std::make_shared<const ExpertExchange>(context, ranks_, visits.counts);
    const Var gathered = gather_from_sp(context, x, *ranks_.group);
    const Tensor rows = exchange->to_experts(context, gathered_rows(context, x, visits.rows));
    return {.tokens = permute(context, gathered, rows),
            .probabilities = to_experts(context, {visits.probabilities}, exchange)[0],
            .counts = exchange->local_counts(),
            .owners = arrived_owners(context, *exchange, visits.rows),
            .route = std::make_shared<const ExpertInput::Route>(
                ExpertInput::Route{exchange, rows, gathered.shape()[0]})};
  }

  Var combine(Context& context, const Var& y, const ExpertInput& input) const override {
    const ExpertInput::Route& route = *input.route;
    return reduce_scatter_to_sp(context, unpermute(context, y, route.rows, route.tokens),
                                *ranks_.group);
  }

 private:
  /// Renumbers this rank's rows to their places among those of all; a negative one stands for no
  /// token.
  Tensor gathered_rows(Context& context, const Var& x, const Tensor& rows) const {
    if (ranks_.group->size() == 1) {
      return rows;
    }
    const Tensor known = tensor::to_host(context.device, rows);
    const Tensor shifted = tensor::empty_on_host(context.device, rows.shape(), rows.dtype());
    const Index first = ranks_.group->rank() * x.shape()[0];
    for (Index i = 0; i < rows.numel(); ++i) {
      const std::int64_t row = known.data<std::int64_t>()[i];
      shifted.data<std::int64_t>()[i] = row < 0 ? row : first + row;
    }
    return tensor::to_device(context.device, shifted);
  }

  ExpertRanks ranks_;
};

}  // namespace

std::unique_ptr<TokenDispatcher> make_token_dispatcher(TokenDispatch kind, Index num_experts,
                                                       const comm::ParallelGroups& groups) {
  const ExpertRanks ranks{.group = groups.expert_layer,
                          .tensor_ranks = groups.expert_tensor->size(),
                          .experts = num_experts};
  MPITRON_CHECK(num_experts % groups.expert->size() == 0, num_experts, groups.expert->size());
  if (kind == TokenDispatch::all_gather) {
    return std::make_unique<AllGatherDispatcher>(ranks);
  }
  return std::make_unique<AllToAllDispatcher>(ranks);
}

}  // namespace mpitron::ops
