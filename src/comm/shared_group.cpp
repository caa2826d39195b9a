#include "comm/shared_group.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "comm/reduce.h"
#include "comm/stream_copy.h"

namespace mpitron::comm {
namespace {

constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr Index kStepBytes = Index{4} << 20;     // of a share, done at once
constexpr Index kStreamBytes = Index{16} << 20;  // copies from here on would only fill the caches

ConstTensorView described(const Request& request) {
  return request.input.data != nullptr ? request.input : request.output;
}

void copy(void* to, const void* from, Index bytes) {
  if (to != from && bytes > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

}  // namespace

/// This rank's memory as the others see it: itself, or a copy where they cannot reach it.
class SharedGroup::Exposed {
 public:
  Exposed() = default;
  Exposed(AddressSpaces& spaces, const ConstTensorView& data) : original_(data) {
    seen_ = data.data;
    if (data.data != nullptr && !spaces.reachable(data.data)) {
      staging_ = &spaces.staging();
      copy_ = staging_->allocate(static_cast<std::size_t>(data.bytes()), capacity_);
      copy(copy_, data.data, data.bytes());
      seen_ = copy_;
    }
    address_ = seen_ != nullptr ? spaces.publish(seen_) : 0;
  }
  ~Exposed() {
    if (copy_ != nullptr) {
      staging_->release(copy_, capacity_);
    }
  }
  Exposed(const Exposed&) = delete;
  Exposed& operator=(Exposed&& other) noexcept {
    std::swap(original_, other.original_);
    std::swap(staging_, other.staging_);
    std::swap(copy_, other.copy_);
    std::swap(capacity_, other.capacity_);
    std::swap(seen_, other.seen_);
    std::swap(address_, other.address_);
    return *this;
  }

  std::uintptr_t address() const { return address_; }
  /// What the others stored, into `to`, which is the exposed memory.
  void copy_back(void* to) const {
    if (copy_ != nullptr) {
      copy(to, copy_, original_.bytes());
    }
  }

 private:
  ConstTensorView original_;
  device::Allocator* staging_ = nullptr;
  void* copy_ = nullptr;
  std::size_t capacity_ = 0;
  const void* seen_ = nullptr;
  std::uintptr_t address_ = 0;
};

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
    if (!done_here_ || !all_reached(&SharedTable::finished)) {
      return false;
    }
    if (request_.kind == CollectiveKind::all_reduce) {
      exposed_.copy_back(request_.output.data);
    }
    return true;
  }

  std::vector<Index> absent() const override {
    const Counter counter = done_here_ ? &SharedTable::finished : &SharedTable::posted;
    std::vector<Index> ranks;
    for (Index member = 0; member < size(); ++member) {
      if ((table().*counter)(member).load(kAcquire) <= sequence_) {
        ranks.push_back(group_.ranks()[static_cast<std::size_t>(member)]);
      }
    }
    return ranks;
  }

 private:
  using Counter = std::atomic<std::uint64_t>& (SharedTable::*)(Index) const;

  struct Copy {
    std::byte* to;
    const std::byte* from;
    Index bytes;
  };

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

  /// What the others read of this rank; nothing of who only receives a broadcast.
  ConstTensorView read_by_others() const {
    switch (request_.kind) {
      case CollectiveKind::all_reduce:
        return request_.output;
      case CollectiveKind::broadcast:
        return request_.peer == rank() ? request_.output : TensorView();
      default:
        return request_.input;
    }
  }

  /// Postings appear in order, and only where all have finished with what lay in their place.
  void post() {
    if (table().posted(rank()).load(kAcquire) != sequence_ ||
        !all_reached(&SharedTable::finished, SharedTable::kDepth)) {
      return;
    }
    const ConstTensorView data = described(request_);
    exposed_ = Exposed(group_.spaces(), read_by_others());
    mine() = {.kind = request_.kind,
              .dtype = data.dtype,
              .reduction = request_.reduction,
              .peer = request_.peer,
              .numel = data.data != nullptr ? data.numel() : 0,
              .data = exposed_.address()};
    std::copy(request_.input_counts.begin(), request_.input_counts.end(),
              table().counts(sequence_, rank()));
    table().posted(rank()).store(sequence_ + 1, kRelease);
    posted_ = true;
  }

  std::byte* reach(Index member) const {
    return static_cast<std::byte*>(group_.spaces().reach(
        group_.ranks()[static_cast<std::size_t>(member)], table().posting(sequence_, member).data));
  }
  std::byte* output() const { return static_cast<std::byte*>(request_.output.data); }

  /// Members take their shares in the order of the postings: `finished` counts them.
  void do_share() {
    if (table().finished(rank()).load(kAcquire) != sequence_) {
      return;
    }
    if (!planned_) {
      check_agreement();
      plan();
      planned_ = true;
    }
    for (Index budget = kStepBytes; budget > 0 && !share_done();) {
      budget -= reduces() ? reduce_some(budget) : copy_some(budget);
    }
    if (share_done()) {
      table().finished(rank()).store(sequence_ + 1, kRelease);
      done_here_ = true;
    }
  }

  void check_agreement() const {
    for (Index member = 0; member < size(); ++member) {
      if (!agree(table().posting(sequence_, member), mine())) {
        report(odd_one());
      }
    }
  }

  /// Who agrees with the fewest; of several the last, since rank 0 is what people compare with.
  Index odd_one() const {
    Index odd = 0;
    Index fewest = size();
    for (Index member = 0; member < size(); ++member) {
      Index alike = 0;
      for (Index other = 0; other < size(); ++other) {
        alike += agree(table().posting(sequence_, member), table().posting(sequence_, other));
      }
      if (alike <= fewest) {
        fewest = alike;
        odd = member;
      }
    }
    return odd;
  }

  static bool agree(const Posting& a, const Posting& b) {
    return a.kind == b.kind && a.dtype == b.dtype && a.peer == b.peer &&
           a.reduction == b.reduction &&
           (a.kind == CollectiveKind::all_to_all || a.numel == b.numel);
  }

  void report(Index odd) const {
    const auto world_rank = [this](Index member) {
      return group_.ranks()[static_cast<std::size_t>(member)];
    };
    const auto text = [&](Index member) {
      const Posting& posting = table().posting(sequence_, member);
      return "rank " + std::to_string(world_rank(member)) + " calls " + name_of(posting.kind) +
             " of " + std::to_string(posting.numel) + " " + std::string(name_of(posting.dtype)) +
             " elements";
    };
    Index other = 0;
    while (agree(table().posting(sequence_, other), table().posting(sequence_, odd))) {
      ++other;
    }
    const std::string what =
        "in group " + group_.name() + " " + text(odd) + " where " + text(other);
    if (Witness* const witness = group_.fabric_.engine->witness()) {
      witness->disagreement(world_rank(odd), what);
    }
    throw InternalError(what);
  }

  bool reduces() const {
    return request_.kind == CollectiveKind::all_reduce ||
           request_.kind == CollectiveKind::reduce_scatter;
  }
  bool share_done() const { return reduces() ? begin_ == end_ : copies_.empty(); }

  void plan() {
    switch (request_.kind) {
      case CollectiveKind::all_reduce:
        return plan_all_reduce();
      case CollectiveKind::reduce_scatter:
        return plan_reduce_scatter();
      case CollectiveKind::all_gather:
        return plan_all_gather();
      case CollectiveKind::all_to_all:
        return plan_all_to_all();
      case CollectiveKind::broadcast:
        return add_copy(output(), reach(request_.peer),
                        rank() == request_.peer ? 0 : output_bytes());
      default:
        return;
    }
  }
  Index output_bytes() const { return request_.output.bytes(); }

  void plan_all_reduce() {
    for (Index member = 0; member < size(); ++member) {
      outputs_.push_back(reach(member));
    }
    inputs_.assign(outputs_.begin(), outputs_.end());
    // Pieces begin at multiples of a cache line, so that members do not write the same one.
    constexpr Index kUnit = 64;
    const Index n = request_.output.numel();
    const Index piece = ((n + size() - 1) / size() + kUnit - 1) / kUnit * kUnit;
    begin_ = std::min(n, piece * rank());
    end_ = std::min(n, begin_ + piece);
  }

  void plan_reduce_scatter() {
    end_ = request_.output.numel();
    for (Index member = 0; member < size(); ++member) {
      inputs_.push_back(reach(member) + rank() * end_ * element_size());
    }
    outputs_ = {request_.output.data};
  }

  void plan_all_gather() {
    const Index bytes = request_.input.bytes();
    for (Index member = 0; member < size(); ++member) {
      const std::byte* from =
          member == rank() ? static_cast<const std::byte*>(request_.input.data) : reach(member);
      add_copy(output() + member * bytes, from, bytes);
    }
  }

  void plan_all_to_all() {
    std::byte* to = output();
    for (Index member = 0; member < size(); ++member) {
      const Index* counts = table().counts(sequence_, member);
      const Index skipped = std::accumulate(counts, counts + rank(), Index{0});
      const Index expected = request_.output_counts[static_cast<std::size_t>(member)];
      MPITRON_CHECK(counts[rank()] == expected, group_.name(), member, counts[rank()], expected);
      add_copy(to, reach(member) + skipped * element_size(), expected * element_size());
      to += expected * element_size();
    }
  }

  void add_copy(std::byte* to, const std::byte* from, Index bytes) {
    if (to != from && bytes > 0) {
      copies_.push_back({to, from, bytes});
      copied_bytes_ += bytes;
    }
  }

  /// At most `budget` bytes (of one input) of this rank's share; returns how many.
  Index reduce_some(Index budget) {
    const Index end = std::min(end_, begin_ + std::max<Index>(1, budget / element_size()));
    reduce_elements(inputs_, outputs_, begin_, end, mine().dtype, request_.reduction);
    return element_size() * (end - std::exchange(begin_, end));
  }

  Index copy_some(Index budget) {
    Copy& next = copies_.back();
    const Index bytes = std::min(budget, next.bytes);
    if (copied_bytes_ >= kStreamBytes) {
      stream_copy(next.to, next.from, bytes);
    } else {
      copy(next.to, next.from, bytes);
    }
    next = {next.to + bytes, next.from + bytes, next.bytes - bytes};
    if (next.bytes == 0) {
      copies_.pop_back();
    }
    return bytes;
  }

  SharedGroup& group_;
  const Request request_;
  const std::uint64_t sequence_;
  Exposed exposed_;
  bool posted_ = false;
  bool planned_ = false;
  bool done_here_ = false;
  // What is left of this rank's share: elements of a reduction, or copies.
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  Index begin_ = 0;
  Index end_ = 0;
  std::vector<Copy> copies_;
  Index copied_bytes_ = 0;  // of all copies
};

/// One end of a message: the sequence numbers of both ends count those between the two members.
class SharedGroup::Message : public Operation {
 public:
  Message(SharedGroup& group, const Request& request, std::vector<std::uint64_t>& started)
      : group_(group),
        request_(request),
        sequence_(started[static_cast<std::size_t>(request.peer)]++) {}

  std::vector<Index> absent() const override { return {peer()}; }

 protected:
  /// The world rank of the other end.
  Index peer() const { return group_.ranks()[static_cast<std::size_t>(request_.peer)]; }

  SharedGroup& group_;
  const Request request_;
  const std::uint64_t sequence_;
};

class SharedGroup::Send final : public Message {
 public:
  Send(SharedGroup& group, const Request& request) : Message(group, request, group.sends_) {}

  bool step() override {
    group_.spaces().check_alive();
    const SharedTable& table = group_.table_;
    const std::uint64_t received = table.received(group_.rank(), request_.peer).load(kAcquire);
    auto& sent = table.sent(group_.rank(), request_.peer);
    if (!posted_ && sent.load(kAcquire) == sequence_ &&
        sequence_ < received + SharedTable::kDepth) {
      exposed_ = Exposed(group_.spaces(), request_.input);
      table.message(sequence_, group_.rank(), request_.peer) = {.kind = CollectiveKind::send,
                                                                .dtype = request_.input.dtype,
                                                                .reduction = Reduction::sum,
                                                                .peer = request_.peer,
                                                                .numel = request_.input.numel(),
                                                                .data = exposed_.address()};
      sent.store(sequence_ + 1, kRelease);
      posted_ = true;
    }
    return received > sequence_;
  }

 private:
  Exposed exposed_;
  bool posted_ = false;
};

class SharedGroup::Receive final : public Message {
 public:
  Receive(SharedGroup& group, const Request& request) : Message(group, request, group.receives_) {}

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
    const void* const from = group_.spaces().reach(peer(), message.data);
    const Index bytes = request_.output.bytes();
    if (bytes >= kStreamBytes) {
      stream_copy(request_.output.data, from, bytes);
    } else {
      copy(request_.output.data, from, bytes);
    }
    received.store(sequence_ + 1, kRelease);
    return done_ = true;
  }

 private:
  bool done_ = false;
};

SharedGroup::SharedGroup(std::string name, std::vector<Index> ranks, Index rank, SharedTable table,
                         Fabric fabric)
    : Group(std::move(name), std::move(ranks), rank),
      table_(table),
      fabric_(std::move(fabric)),
      sends_(static_cast<std::size_t>(size())),
      receives_(static_cast<std::size_t>(size())) {}

Work SharedGroup::start(const Request& request) {
  switch (request.kind) {
    case CollectiveKind::send:
      return fabric_.engine->start(std::make_shared<Send>(*this, request), *this, request);
    case CollectiveKind::receive:
      return fabric_.engine->start(std::make_shared<Receive>(*this, request), *this, request);
    default:
      return fabric_.engine->start(std::make_shared<Collective>(*this, request), *this, request);
  }
}

}  // namespace mpitron::comm
