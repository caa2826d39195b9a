#include "comm/shared_group.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "comm/reduce.h"

namespace mpitron::comm {
namespace {

constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;

const ConstTensorView& described(const Request& request, ConstTensorView& as_input) {
  as_input = request.output;
  return request.input.data != nullptr ? request.input : as_input;
}

void copy(void* to, const void* from, Index bytes) {
  if (to != from && bytes > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

}  // namespace

/// One collective of this rank: postings of the same sequence number belong together.
class SharedGroup::Collective final : public Operation {
 public:
  Collective(SharedGroup& group, Request request)
      : group_(group), request_(std::move(request)), sequence_(group.collectives_++) {}

  bool step() override {
    if (!posted_) {
      post();
    }
    if (posted_ && !done_here_ && all_reached(&SharedTable::posted)) {
      do_share();
    }
    return done_here_ && all_reached(&SharedTable::finished);
  }

 private:
  using Counter = std::atomic<std::uint64_t>& (SharedTable::*)(Index) const;

  SharedTable& table() const { return group_.table_; }
  Index rank() const { return group_.rank(); }
  Index size() const { return group_.size(); }
  Index element_size() const { return static_cast<Index>(size_of(mine().dtype)); }
  Posting& mine() const { return table().posting(sequence_, rank()); }

  bool all_reached(Counter counter, std::uint64_t back = 0) const {
    group_.spaces().check_alive();
    for (Index member = 0; member < size(); ++member) {
      if ((table().*counter)(member).load(kAcquire) + back <= sequence_) {
        return false;
      }
    }
    return true;
  }

  /// Postings appear in order, and only where all have finished with what lay in their place.
  void post() {
    if (table().posted(rank()).load(kAcquire) != sequence_ ||
        !all_reached(&SharedTable::finished, SharedTable::kDepth)) {
      return;
    }
    ConstTensorView as_input;
    const ConstTensorView& data = described(request_, as_input);
    mine() = {.kind = request_.kind,
              .dtype = data.dtype,
              .reduction = request_.reduction,
              .peer = request_.peer,
              .numel = data.data != nullptr ? data.numel() : 0,
              .input = group_.spaces().publish(request_.input.data),
              .output = group_.spaces().publish(request_.output.data)};
    std::copy(request_.input_counts.begin(), request_.input_counts.end(),
              table().counts(sequence_, rank()));
    table().posted(rank()).store(sequence_ + 1, kRelease);
    posted_ = true;
  }

  void* reach(Index member, std::uintptr_t Posting::*address) const {
    return group_.spaces().reach(group_.ranks()[static_cast<std::size_t>(member)],
                                 table().posting(sequence_, member).*address);
  }
  std::byte* output() const { return static_cast<std::byte*>(request_.output.data); }

  /// Members take their shares in the order of the postings: `finished` counts them.
  void do_share() {
    if (table().finished(rank()).load(kAcquire) != sequence_) {
      return;
    }
    check_agreement();
    switch (request_.kind) {
      case CollectiveKind::all_reduce:
        all_reduce();
        break;
      case CollectiveKind::reduce_scatter:
        reduce_scatter();
        break;
      case CollectiveKind::all_gather:
        all_gather();
        break;
      case CollectiveKind::all_to_all:
        all_to_all();
        break;
      case CollectiveKind::broadcast:
        copy(request_.output.data, reach(request_.peer, &Posting::output), request_.output.bytes());
        break;
      default:
        break;
    }
    table().finished(rank()).store(sequence_ + 1, kRelease);
    done_here_ = true;
  }

  void check_agreement() const {
    const Posting& own = mine();
    for (Index member = 0; member < size(); ++member) {
      const Posting& other = table().posting(sequence_, member);
      const bool counts_differ =
          own.kind == CollectiveKind::all_to_all ? false : other.numel != own.numel;
      MPITRON_CHECK(other.kind == own.kind && other.dtype == own.dtype && other.peer == own.peer &&
                        !counts_differ,
                    group_.name(), rank(), name_of(own.kind), own.numel, member,
                    name_of(other.kind), other.numel);
    }
  }

  void all_reduce() const {
    std::vector<void*> all;
    for (Index member = 0; member < size(); ++member) {
      all.push_back(reach(member, &Posting::output));
    }
    const std::vector<const void*> inputs(all.begin(), all.end());
    // Pieces begin at multiples of a cache line, so that members do not write the same one.
    constexpr Index kUnit = 64;
    const Index n = request_.output.numel();
    const Index piece = ((n + size() - 1) / size() + kUnit - 1) / kUnit * kUnit;
    const Index begin = std::min(n, piece * rank());
    reduce_elements(inputs, all, begin, std::min(n, begin + piece), mine().dtype,
                    request_.reduction);
  }

  void reduce_scatter() const {
    std::vector<const void*> inputs;
    const Index n = request_.output.numel();
    for (Index member = 0; member < size(); ++member) {
      inputs.push_back(static_cast<const std::byte*>(reach(member, &Posting::input)) +
                       rank() * n * element_size());
    }
    void* const outputs[] = {request_.output.data};
    reduce_elements(inputs, outputs, 0, n, mine().dtype, request_.reduction);
  }

  void all_gather() const {
    const Index bytes = request_.input.bytes();
    for (Index member = 0; member < size(); ++member) {
      copy(output() + member * bytes, reach(member, &Posting::input), bytes);
    }
  }

  void all_to_all() const {
    std::byte* to = output();
    for (Index member = 0; member < size(); ++member) {
      const Index* counts = table().counts(sequence_, member);
      const Index skipped = std::accumulate(counts, counts + rank(), Index{0});
      const Index expected = request_.output_counts[static_cast<std::size_t>(member)];
      MPITRON_CHECK(counts[rank()] == expected, group_.name(), member, counts[rank()], expected);
      copy(to,
           static_cast<const std::byte*>(reach(member, &Posting::input)) + skipped * element_size(),
           expected * element_size());
      to += expected * element_size();
    }
  }

  SharedGroup& group_;
  const Request request_;
  const std::uint64_t sequence_;
  bool posted_ = false;
  bool done_here_ = false;
};

class SharedGroup::Send final : public Operation {
 public:
  Send(SharedGroup& group, const Request& request)
      : group_(group),
        request_(request),
        sequence_(group.sends_[static_cast<std::size_t>(request.peer)]++) {}

  bool step() override {
    group_.spaces().check_alive();
    const SharedTable& table = group_.table_;
    const std::uint64_t received = table.received(group_.rank(), request_.peer).load(kAcquire);
    auto& sent = table.sent(group_.rank(), request_.peer);
    if (!posted_ && sent.load(kAcquire) == sequence_ &&
        sequence_ < received + SharedTable::kDepth) {
      table.message(sequence_, group_.rank(), request_.peer) = {
          .kind = CollectiveKind::send,
          .dtype = request_.input.dtype,
          .reduction = Reduction::sum,
          .peer = request_.peer,
          .numel = request_.input.numel(),
          .input = group_.spaces().publish(request_.input.data),
          .output = 0};
      sent.store(sequence_ + 1, kRelease);
      posted_ = true;
    }
    return received > sequence_;
  }

 private:
  SharedGroup& group_;
  const Request request_;
  const std::uint64_t sequence_;
  bool posted_ = false;
};

class SharedGroup::Receive final : public Operation {
 public:
  Receive(SharedGroup& group, const Request& request)
      : group_(group),
        request_(request),
        sequence_(group.receives_[static_cast<std::size_t>(request.peer)]++) {}

  bool step() override {
    group_.spaces().check_alive();
    const SharedTable& table = group_.table_;
    auto& received = table.received(request_.peer, group_.rank());
    if (done_) {
      return true;
    }
    if (table.sent(request_.peer, group_.rank()).load(kAcquire) <= sequence_ ||
        received.load(kAcquire) != sequence_) {
      return false;
    }
    const Posting& message = table.message(sequence_, request_.peer, group_.rank());
    MPITRON_CHECK(
        message.numel == request_.output.numel() && message.dtype == request_.output.dtype,
        group_.name(), message.numel, request_.output.numel());
    const Index world_rank = group_.ranks()[static_cast<std::size_t>(request_.peer)];
    copy(request_.output.data, group_.spaces().reach(world_rank, message.input),
         request_.output.bytes());
    received.store(sequence_ + 1, kRelease);
    return done_ = true;
  }

 private:
  SharedGroup& group_;
  const Request request_;
  const std::uint64_t sequence_;
  bool done_ = false;
};

SharedGroup::SharedGroup(std::string name, std::vector<Index> ranks, Index rank, SharedTable table,
                         Fabric fabric)
    : Group(std::move(name), std::move(ranks), rank),
      table_(table),
      fabric_(std::move(fabric)),
      sends_(static_cast<std::size_t>(size())),
      receives_(static_cast<std::size_t>(size())) {}

Work SharedGroup::keep(std::shared_ptr<Operation> operation) {
  fabric_.engine->add(operation);
  Work work(std::move(operation), fabric_.engine);
  work.test();
  return work;
}

Work SharedGroup::start(const Request& request) {
  switch (request.kind) {
    case CollectiveKind::send:
      return keep(std::make_shared<Send>(*this, request));
    case CollectiveKind::receive:
      return keep(std::make_shared<Receive>(*this, request));
    default:
      return keep(std::make_shared<Collective>(*this, request));
  }
}

}  // namespace mpitron::comm
