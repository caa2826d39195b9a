// Exchanges rows among the ranks that hold experts. Counts are exchanged first, on the host,
// because every rank must know how much it gets; rows follow in one all-to-all, and gradients take
// the same way back.
#include "ops/experts/expert_exchange.h"

#include <numeric>

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/host_copy.h"

namespace mpitron::ops {
namespace {

using autograd::Context;
using autograd::Slot;
using autograd::Var;
using tensor::Tensor;

Index sum_of(const std::vector<Index>& counts) {
  return std::accumulate(counts.begin(), counts.end(), Index{0});
}

Tensor rows_like(Context& context, const Tensor& x, Index rows, DType dtype) {
  Shape shape = x.shape();
  shape[0] = rows;
  return context.empty(shape, dtype);
}

Tensor rows_like(Context& context, const Tensor& x, Index rows) {
  return rows_like(context, x, rows, x.dtype());
}

/// Elements of a row, also where there is none.
Index width_of(const Tensor& x) {
  return x.shape().rank() == 1 ? 1 : x.shape()[1];
}

Tensor rows_of(const Tensor& x, Index first, Index count) {
  return x.slice(0, first, first + count);
}

using Transfer = ExpertExchange::Transfer;

/// One way through an exchange.
struct Way {
  Transfer (ExpertExchange::*send)(Context&, const Tensor&) const;
  Tensor (ExpertExchange::*arrive)(Context&, Transfer) const;
};
constexpr Way kToExperts = {&ExpertExchange::sent_to_experts, &ExpertExchange::arrived_at_experts};
constexpr Way kFromExperts = {&ExpertExchange::sent_from_experts,
                              &ExpertExchange::arrived_from_experts};

using Transfers = std::vector<Transfer>;

/// Gradients set out in the backward pass of the rows' arrival.
struct ArrivalBackward {
  struct Arrived {
    Slot slot;
    Shape shape;
    DType dtype;
  };
  std::vector<Arrived> ys;
  ExchangeHandle exchange;
  Way back;
  std::shared_ptr<Transfers> transfers;

  void operator()(Context& context) const {
    for (const Arrived& y : ys) {
      Tensor gradient = autograd::take_gradient(y.slot);
      if (!gradient) {
        gradient = context.empty(y.shape, y.dtype);
        context.launch(kernels::Fill{.x = gradient.view(), .value = 0});
      }
      transfers->push_back((*exchange.*back.send)(context, gradient));
    }
  }
};

struct DepartureBackward {
  std::vector<Slot> x_slots;
  ExchangeHandle exchange;
  Way back;
  std::shared_ptr<Transfers> transfers;

  void operator()(Context& context) const {
    for (std::size_t i = 0; i < x_slots.size(); ++i) {
      autograd::accumulate(context, x_slots[i],
                           (*exchange.*back.arrive)(context, std::move((*transfers)[i])));
    }
  }
};

std::vector<Var> travel(Context& context, const std::vector<Var>& xs,
                        const ExchangeHandle& exchange, std::pair<Way, Way> there_and_back,
                        const std::function<void()>& overlapped_work) {
  const auto [there, back] = there_and_back;
  const auto gradients = std::make_shared<Transfers>();
  Transfers transfers;
  DepartureBackward departure{{}, exchange, back, gradients};
  for (const Var& x : xs) {
    transfers.push_back((*exchange.*there.send)(context, x.value));
    departure.x_slots.push_back(x.slot);
  }
  if (context.recording()) {
    context.record_always(std::move(departure));
  }
  overlapped_work();
  if (context.recorder.deferred != nullptr) {
    context.recorder.deferred->overlapped_work(context);
  }
  std::vector<Var> ys;
  ArrivalBackward arrival{{}, exchange, back, gradients};
  for (Transfer& transfer : transfers) {
    const Var& y = ys.emplace_back(
        autograd::variable((*exchange.*there.arrive)(context, std::move(transfer))));
    arrival.ys.push_back({y.slot, y.shape(), y.value.dtype()});
  }
  if (context.recording()) {
    context.record_always(std::move(arrival));
  }
  return ys;
}

}  // namespace

ExpertExchange::ExpertExchange(Context& context, ExpertRanks ranks,
                               const std::vector<Index>& counts)
    : ranks_(std::move(ranks)), rows_here_(sum_of(counts)) {
  MPITRON_CHECK(static_cast<Index>(counts.size()) == ranks_.experts, counts.size());
  const Index members = ranks_.group->size();
  const Tensor mine = tensor::empty_on_host(context.device, {ranks_.experts}, DType::i64);
  std::copy(counts.begin(), counts.end(), mine.data<std::int64_t>());
  const Tensor all = tensor::empty_on_host(context.device, {members, ranks_.experts}, DType::i64);
  ranks_.group->all_gather(mine, all.view()).wait();
  add_sent(counts);
  add_received(all.data<std::int64_t>());
}

void ExpertExchange::add_sent(const std::vector<Index>& counts) {
  const Index members = ranks_.group->size();
  Index first = 0, sent = 0;
  for (Index member = 0; member < members; ++member) {
    const auto begin = counts.begin() + ranks_.first_expert(member);
    const Index rows = std::accumulate(begin, begin + ranks_.local_experts(), Index{0});
    copies_.push_back({.here = first, .there = sent, .rows = rows});
    sent_.push_back(rows);
    sent += rows;
    const bool last_shard = (member + 1) % ranks_.tensor_ranks == 0;
    first += last_shard ? rows : 0;
  }
}

void ExpertExchange::add_received(const std::int64_t* counts) {
  const Index members = ranks_.group->size(), local = ranks_.local_experts();
  const Index first = ranks_.first_expert(ranks_.group->rank());
  const auto count = [&](Index member, Index expert) {
    return counts[member * ranks_.experts + first + expert];
  };
  local_counts_.assign(static_cast<std::size_t>(local), 0);
  std::vector<Index> starts;  // of each member's rows, as they come
  for (Index member = 0, start = 0; member < members; ++member) {
    starts.push_back(start);
    Index rows = 0;
    for (Index expert = 0; expert < local; ++expert) {
      rows += count(member, expert);
      local_counts_[static_cast<std::size_t>(expert)] += count(member, expert);
    }
    received_.push_back(rows);
    start += rows;
  }
  Index there = 0;
  for (Index expert = 0; expert < local; ++expert) {
    for (Index member = 0; member < members; ++member) {
      const Index rows = count(member, expert);
      Index& here = starts[static_cast<std::size_t>(member)];
      sorting_.push_back({.here = here, .there = there, .rows = rows});
      here += rows;
      there += rows;
    }
  }
}

Transfer ExpertExchange::start(Context& context, const Tensor& x, const std::vector<Index>& sent,
                               const std::vector<Index>& received) const {
  const auto elements = [&](std::vector<Index> rows) {
    for (Index& n : rows) {
      n *= width_of(x);
    }
    return rows;
  };
  const Tensor y = rows_like(context, x, sum_of(received));
  return {x, y, ranks_.group->all_to_all(x, y.view(), elements(sent), elements(received))};
}

Tensor ExpertExchange::moved(Context& context, const Tensor& x, const std::vector<Block>& blocks,
                             Index Block::*from, Index Block::*to) {
  Index rows = 0;
  for (const Block& block : blocks) {
    rows += block.rows;
  }
  const Tensor y = rows_like(context, x, rows);
  for (const Block& block : blocks) {
    if (block.rows > 0) {
      context.launch(kernels::Cast{.x = rows_of(x, block.*from, block.rows).view(),
                                   .y = rows_of(y, block.*to, block.rows).view()});
    }
  }
  return y;
}

Transfer ExpertExchange::sent_to_experts(Context& context, const Tensor& x) const {
  MPITRON_CHECK(x.shape()[0] == rows_here_, x.shape()[0], rows_here_);
  if (ranks_.tensor_ranks == 1) {
    return start(context, x, sent_, received_);
  }
  return start(context, moved(context, x, copies_, &Block::here, &Block::there), sent_, received_);
}

Tensor ExpertExchange::arrived_at_experts(Context& context, Transfer transfer) const {
  transfer.work.wait();
  return ranks_.local_experts() == 1
             ? transfer.received
             : moved(context, transfer.received, sorting_, &Block::here, &Block::there);
}

Transfer ExpertExchange::sent_from_experts(Context& context, const Tensor& y) const {
  if (ranks_.local_experts() == 1) {
    return start(context, y, received_, sent_);
  }
  return start(context, moved(context, y, sorting_, &Block::there, &Block::here), received_, sent_);
}

Tensor ExpertExchange::arrived_from_experts(Context& context, Transfer transfer) const {
  transfer.work.wait();
  return ranks_.tensor_ranks == 1 ? transfer.received : sum_of_shards(context, transfer.received);
}

/// The members that hold shards of the same experts are neighbours, and so are what they sent.
Tensor ExpertExchange::sum_of_shards(Context& context, const Tensor& x) const {
  const Tensor sums = rows_like(context, x, rows_here_);
  const DType wide = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  for (std::size_t member = 0; member < copies_.size();) {
    const Block& block = copies_[member];
    Tensor sum = rows_of(x, block.there, block.rows);
    for (Index shard = 1; shard < ranks_.tensor_ranks; ++shard) {
      const bool last = shard + 1 == ranks_.tensor_ranks;
      const Tensor next =
          last ? rows_of(sums, block.here, block.rows) : rows_like(context, x, block.rows, wide);
      const Index there = copies_[++member].there;
      context.launch(kernels::Add{
          .a = sum.view(), .b = rows_of(x, there, block.rows).view(), .y = next.view()});
      sum = next;
    }
    ++member;
  }
  return sums;
}

std::vector<Var> to_experts(Context& context, const std::vector<Var>& xs,
                            const ExchangeHandle& exchange,
                            const std::function<void()>& overlapped_work) {
  if (exchange->alone()) {
    overlapped_work();
    return xs;
  }
  return travel(context, xs, exchange, {kToExperts, kFromExperts}, overlapped_work);
}

Var from_experts(Context& context, const Var& y, const ExchangeHandle& exchange) {
  if (exchange->alone()) {
    return y;
  }
  return travel(context, {y}, exchange, {kFromExperts, kToExperts}, [] {})[0];
}

}  // namespace mpitron::ops
