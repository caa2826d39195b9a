#include "comm/message_group.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "comm/reduce.h"

namespace mpitron::comm {
namespace {

void copy(void* to, const void* from, Index bytes) {
  if (to != from && bytes > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

}  // namespace

/// Some messages of one operation under one tag.
class MessageGroup::Transfers {
 public:
  Transfers(const MessageGroup& group, int tag) : group_(group), tag_(tag) {}

  void send(Index member, const void* data, Index bytes) {
    if (bytes > 0) {
      add(member, messages().send(group_.world_rank(member), tag_, data, bytes));
    }
  }
  void receive(Index member, void* data, Index bytes) {
    if (bytes > 0) {
      add(member, messages().receive(group_.world_rank(member), tag_, data, bytes));
    }
  }
  bool done() {
    std::erase_if(transfers_, [](const auto& transfer) { return transfer.second->done(); });
    return transfers_.empty();
  }
  /// World ranks of what is under way.
  void add_absent(std::vector<Index>& ranks) const {
    for (const auto& [member, transfer] : transfers_) {
      ranks.push_back(group_.world_rank(member));
    }
  }

 private:
  Messages& messages() const { return *group_.fabric_.messages; }
  void add(Index member, std::unique_ptr<Messages::Transfer> transfer) {
    transfers_.emplace_back(member, std::move(transfer));
  }

  const MessageGroup& group_;
  int tag_;
  std::vector<std::pair<Index, std::unique_ptr<Messages::Transfer>>> transfers_;
};

/// Begins when the collective that had the same tags has ended here.
class MessageGroup::Collective : public Operation {
 public:
  Collective(MessageGroup& group, Request request)
      : group_(group), request_(std::move(request)), sequence_(group.collectives_++) {}

  bool step() final {
    bool& taken = group_.tags_taken_[sequence_ % kUnderWay];
    if (!begun_) {
      if (taken) {
        return false;
      }
      taken = begun_ = true;
      begin();
    }
    if (!advance()) {
      return false;
    }
    taken = false;
    return true;
  }

  std::vector<Index> absent() const final {
    std::vector<Index> ranks;
    add_absent(ranks);
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }

 protected:
  virtual void begin() = 0;
  virtual bool advance() = 0;
  virtual void add_absent(std::vector<Index>& ranks) const = 0;

  Index rank() const { return group_.rank(); }
  Index size() const { return group_.size(); }
  int tag(int part) const { return group_.tag(sequence_, part); }
  const std::byte* input() const { return static_cast<const std::byte*>(request_.input.data); }
  std::byte* output() const { return static_cast<std::byte*>(request_.output.data); }

  MessageGroup& group_;
  const Request request_;

 private:
  const std::uint64_t sequence_;
  bool begun_ = false;
};

/// all_gather and all_to_all: everything at once.
class MessageGroup::Exchange final : public Collective {
 public:
  using Collective::Collective;

 private:
  void begin() override {
    const bool gathers = request_.kind == CollectiveKind::all_gather;
    const auto element = static_cast<Index>(size_of(request_.output.dtype));
    const std::byte* from = input();
    std::byte* to = output();
    for (Index member = 0; member < size(); ++member) {
      const auto j = static_cast<std::size_t>(member);
      const Index sent = gathers ? request_.input.bytes() : request_.input_counts[j] * element;
      const Index received = gathers ? sent : request_.output_counts[j] * element;
      if (member == rank()) {
        copy(to, from, received);
      } else {
        transfers_.send(member, from, sent);
        transfers_.receive(member, to, received);
      }
      from += gathers ? 0 : sent;
      to += received;
    }
  }
  bool advance() override { return transfers_.done(); }
  void add_absent(std::vector<Index>& ranks) const override { transfers_.add_absent(ranks); }

  Transfers transfers_{group_, tag(0)};
};

/// Along a binomial tree: who has the data sends it to a rank twice as far away each time.
class MessageGroup::Broadcast final : public Collective {
 public:
  using Collective::Collective;

 private:
  void begin() override {
    const Index place = (rank() - request_.peer + size()) % size();
    while (reach_ <= place) {
      reach_ *= 2;
    }
    if (place > 0) {  // half of `reach_` is the highest bit of `place`
      from_above_.receive(member_at(place - reach_ / 2), output(), request_.output.bytes());
    }
  }
  bool advance() override {
    if (!from_above_.done()) {
      return false;
    }
    const Index place = (rank() - request_.peer + size()) % size();
    for (; place + reach_ < size(); reach_ *= 2) {
      to_below_.send(member_at(place + reach_), output(), request_.output.bytes());
    }
    return to_below_.done();
  }
  void add_absent(std::vector<Index>& ranks) const override {
    from_above_.add_absent(ranks);
    to_below_.add_absent(ranks);
  }
  /// From the root's first children on, who sends has received itself.
  int distance() const override {
    const Index place = (rank() - request_.peer + size()) % size();
    return std::max(0, std::popcount(static_cast<std::uint64_t>(place)) - 1);
  }
  Index member_at(Index place) const { return (place + request_.peer) % size(); }

  Index reach_ = 1;
  Transfers from_above_{group_, tag(0)};
  Transfers to_below_{group_, tag(0)};
};

/// In round k each member tells the one 2^k further on that it and 2^k - 1 others have arrived.
class MessageGroup::Barrier final : public Collective {
 public:
  using Collective::Collective;

 private:
  void begin() override {}
  bool advance() override {
    while (round_.done()) {
      if (reach_ >= size()) {
        return true;
      }
      round_.send((rank() + reach_) % size(), &sent_, 1);
      round_.receive((rank() - reach_ + size()) % size(), &received_, 1);
      reach_ *= 2;
    }
    return false;
  }
  void add_absent(std::vector<Index>& ranks) const override { round_.add_absent(ranks); }
  int distance() const override {
    return std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(reach_))) - 2);
  }

  Index reach_ = 1;  // of the next round
  char sent_ = 0;
  char received_ = 0;
  Transfers round_{group_, tag(0)};
};

/// A part of a reduction: each member receives its piece from all, adds, and (all_reduce) sends the
/// sum to all.
class MessageGroup::ReduceBlock {
 public:
  struct Piece {
    Index begin;  // elements of the input
    Index end;
  };

  /// `sum`: where this member's piece of the result goes; `result`: start of what is given back to
  /// all, null for a reduce_scatter.
  ReduceBlock(const MessageGroup& group, const ConstTensorView& input, std::vector<Piece> pieces,
              std::byte* sum, std::byte* result)
      : group_(group),
        input_(input),
        pieces_(std::move(pieces)),
        sum_(sum),
        result_(result),
        collected_(static_cast<std::size_t>(bytes(group.rank()) * group.size())) {}

  void begin(int tag) {
    tag_ = tag;
    pieces_under_way_.emplace(group_, tag);
    for (Index member = 0; member < group_.size(); ++member) {
      if (member != group_.rank()) {
        pieces_under_way_->send(member, input(member), bytes(member));
        pieces_under_way_->receive(member, collected(member), bytes(group_.rank()));
      }
    }
  }

  bool step(Reduction reduction) {
    if (!pieces_under_way_->done()) {
      return false;
    }
    if (!sums_under_way_) {
      add(reduction);
      sums_under_way_.emplace(group_, tag_ + 1);
      if (result_ != nullptr) {
        give_back();
      }
    }
    return sums_under_way_->done();
  }

  void add_absent(std::vector<Index>& ranks) const {
    (sums_under_way_ ? sums_under_way_ : pieces_under_way_)->add_absent(ranks);
  }
  /// Whether a member's own piece is missing, rather than a sum that may wait for another's piece.
  bool lacks_pieces() const { return !sums_under_way_; }

 private:
  const Piece& piece(Index member) const { return pieces_[static_cast<std::size_t>(member)]; }
  Index element() const { return static_cast<Index>(size_of(input_.dtype)); }
  Index bytes(Index member) const { return (piece(member).end - piece(member).begin) * element(); }
  const std::byte* input(Index member) const {
    return static_cast<const std::byte*>(input_.data) + piece(member).begin * element();
  }
  std::byte* collected(Index member) { return collected_.data() + member * bytes(group_.rank()); }

  void add(Reduction reduction) {
    std::vector<const void*> inputs;
    for (Index member = 0; member < group_.size(); ++member) {
      inputs.push_back(member == group_.rank() ? input(member) : collected(member));
    }
    void* const outputs[] = {sum_};
    reduce_elements(inputs, outputs, 0, bytes(group_.rank()) / element(), input_.dtype, reduction);
  }

  void give_back() {
    for (Index member = 0; member < group_.size(); ++member) {
      if (member != group_.rank()) {
        sums_under_way_->send(member, sum_, bytes(group_.rank()));
        sums_under_way_->receive(member, result_ + piece(member).begin * element(), bytes(member));
      }
    }
  }

  const MessageGroup& group_;
  const ConstTensorView input_;
  const std::vector<Piece> pieces_;
  std::byte* const sum_;
  std::byte* const result_;
  std::vector<std::byte> collected_;
  int tag_ = 0;
  std::optional<Transfers> pieces_under_way_;
  std::optional<Transfers> sums_under_way_;
};

/// all_reduce and reduce_scatter.
class MessageGroup::Reduce final : public Collective {
 public:
  using Collective::Collective;

 private:
  static constexpr int kBlocks = 4;  // under way at once, with two tags each
  static_assert(2 * kBlocks < kTagsEach);

  bool scatters() const { return request_.kind == CollectiveKind::reduce_scatter; }
  ConstTensorView data() const { return scatters() ? request_.input : request_.output; }

  void begin() override {
    const auto element = static_cast<Index>(size_of(request_.output.dtype));
    constexpr Index kUnit = 64;  // elements
    const Index limit = std::clamp((Index{4} << 20) / size(), Index{16} << 10, Index{1} << 20);
    const Index share = request_.output.numel() / (scatters() ? 1 : size()) + 1;
    piece_ = std::min(limit / element, (share + kUnit - 1) / kUnit * kUnit);
  }

  bool advance() override {
    std::erase_if(blocks_, [this](auto& block) { return block.second->step(request_.reduction); });
    while (next_ < request_.output.numel() && place_of_next_is_free()) {
      auto block = make_block();
      block->begin(tag(2 * static_cast<int>(number_ % kBlocks)));
      blocks_.emplace_back(number_++, std::move(block));
    }
    return blocks_.empty();
  }
  void add_absent(std::vector<Index>& ranks) const override {
    for (const auto& [number, block] : blocks_) {
      if (block->lacks_pieces() == (distance() == 0)) {
        block->add_absent(ranks);
      }
    }
  }
  int distance() const override {
    return std::any_of(blocks_.begin(), blocks_.end(),
                       [](const auto& block) { return block.second->lacks_pieces(); })
               ? 0
               : 1;
  }
  bool place_of_next_is_free() const {
    return std::none_of(blocks_.begin(), blocks_.end(), [this](const auto& block) {
      return block.first % kBlocks == number_ % kBlocks;
    });
  }

  std::unique_ptr<ReduceBlock> make_block() {
    const Index n = request_.output.numel();
    const Index start = next_;
    std::vector<ReduceBlock::Piece> pieces;
    for (Index member = 0; member < size(); ++member) {
      const Index skipped = scatters() ? member * n : member * piece_;
      const Index limit = scatters() ? (member + 1) * n : n;
      pieces.push_back(
          {std::min(limit, start + skipped), std::min(limit, start + skipped + piece_)});
    }
    next_ += scatters() ? piece_ : piece_ * size();
    const auto element = static_cast<Index>(size_of(request_.output.dtype));
    const Index own = scatters() ? start : pieces[static_cast<std::size_t>(rank())].begin;
    return std::make_unique<ReduceBlock>(group_, data(), std::move(pieces),
                                         output() + own * element, scatters() ? nullptr : output());
  }

  Index piece_ = 1;  // elements of a member's share that a block holds
  Index next_ = 0;   // of the output: where the next block begins
  std::uint64_t number_ = 0;
  std::vector<std::pair<std::uint64_t, std::unique_ptr<ReduceBlock>>> blocks_;
};

/// A send or a receive.
class MessageGroup::Message final : public Operation {
 public:
  Message(const MessageGroup& group, const Request& request)
      : transfers_(group, group.tag(0, kTagsEach - 1)) {
    if (request.kind == CollectiveKind::send) {
      transfers_.send(request.peer, request.input.data, request.input.bytes());
    } else {
      transfers_.receive(request.peer, request.output.data, request.output.bytes());
    }
  }
  bool step() override { return transfers_.done(); }
  std::vector<Index> absent() const override {
    std::vector<Index> ranks;
    transfers_.add_absent(ranks);
    return ranks;
  }

 private:
  Transfers transfers_;
};

MessageGroup::MessageGroup(std::string name, std::vector<Index> ranks, Index rank, Fabric fabric,
                           int number)
    : Group(std::move(name), std::move(ranks), rank), fabric_(std::move(fabric)), number_(number) {}

Work MessageGroup::start(const Request& request) {
  const auto begin = [&]<class Kind>() {
    return fabric_.engine->start(std::make_shared<Kind>(*this, request), *this, request);
  };
  switch (request.kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
      return begin.operator()<Reduce>();
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all:
      return begin.operator()<Exchange>();
    case CollectiveKind::broadcast:
      return begin.operator()<Broadcast>();
    case CollectiveKind::barrier:
      return begin.operator()<Barrier>();
    case CollectiveKind::send:
    case CollectiveKind::receive:
      return begin.operator()<Message>();
  }
  return {};
}

}  // namespace mpitron::comm
