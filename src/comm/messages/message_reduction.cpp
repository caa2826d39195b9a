#include <algorithm>
#include <optional>

#include "comm/groups/reduce.h"
#include "comm/messages/message_collective.h"

// Reductions from messages. The data is cut into blocks; of each block a member receives its piece
// from all, adds the pieces in the order of members as shared memory does (reduce.h), and for an
// all-reduce sends the sum back. So the bits are those of one node, at the price of n times the
// latency of a tree.

namespace mpitron::comm {
namespace {

/// A part of a reduction: each member receives its piece from all, adds, and (all_reduce) sends the
/// sum to all.
class ReduceBlock {
 public:
  struct Piece {
    Index begin;  // elements of the input
    Index end;
  };

  /// `sum`: where this member's piece of the result goes; `result`: start of what is given back to
  /// all, null for a reduce_scatter.
  ReduceBlock(const MessageMembers& members, const ConstTensorView& input,
              std::vector<Piece> pieces, std::byte* sum, std::byte* result)
      : members_(members),
        input_(input),
        pieces_(std::move(pieces)),
        sum_(sum),
        result_(result),
        collected_(static_cast<std::size_t>(bytes(rank()) * size())) {}

  /// Every member sends each other one its piece, and receives the pieces of its own.
  void begin(int tag) {
    tag_ = tag;
    pieces_under_way_.emplace(members_, tag);
    for (Index member = 0; member < size(); ++member) {
      if (member != rank()) {
        pieces_under_way_->send(member, input(member), bytes(member));
        pieces_under_way_->receive(member, collected(member), bytes(rank()));
      }
    }
  }

  /// Steps through two phases: pieces come and are added in member order, then sums go back.
  bool step(Reduction reduction) {
    if (!pieces_under_way_->done()) {
      return false;
    }
    if (!sums_under_way_) {
      add(reduction);
      sums_under_way_.emplace(members_, tag_ + 1);
      if (result_ != nullptr) {
        give_back();
      }
    }
    return sums_under_way_->done();
  }

  void add_absent(std::vector<Index>& ranks) const {
    (sums_under_way_ ? sums_under_way_ : pieces_under_way_)->add_absent(ranks);
  }
  /// Tells whether a member's own piece is missing, rather than a sum that may wait for another's
  /// piece.
  bool lacks_pieces() const { return !sums_under_way_; }

 private:
  Index rank() const { return members_.group().rank(); }
  Index size() const { return members_.group().size(); }
  const Piece& piece(Index member) const { return pieces_[static_cast<std::size_t>(member)]; }
  Index element() const { return static_cast<Index>(size_of(input_.dtype)); }
  Index bytes(Index member) const { return (piece(member).end - piece(member).begin) * element(); }
  const std::byte* input(Index member) const {
    return static_cast<const std::byte*>(input_.data) + piece(member).begin * element();
  }
  std::byte* collected(Index member) { return collected_.data() + member * bytes(rank()); }

  /// Adds the pieces in the order of members, the own input among them, which makes the bits those
  /// of shared memory.
  void add(Reduction reduction) {
    std::vector<const void*> inputs;
    for (Index member = 0; member < size(); ++member) {
      inputs.push_back(member == rank() ? input(member) : collected(member));
    }
    void* const outputs[] = {sum_};
    reduce_elements(inputs, outputs, 0, bytes(rank()) / element(), input_.dtype, reduction);
  }

  /// Sends sums back, which only all_reduce wants: of reduce_scatter everybody has its part
  /// already.
  void give_back() {
    for (Index member = 0; member < size(); ++member) {
      if (member != rank()) {
        sums_under_way_->send(member, sum_, bytes(rank()));
        sums_under_way_->receive(member, result_ + piece(member).begin * element(), bytes(member));
      }
    }
  }

  const MessageMembers& members_;
  const ConstTensorView input_;
  const std::vector<Piece> pieces_;
  std::byte* const sum_;
  std::byte* const result_;
  std::vector<std::byte> collected_;
  int tag_ = 0;
  std::optional<MessageTransfers> pieces_under_way_;
  std::optional<MessageTransfers> sums_under_way_;
};

/// Moves the blocks of one all-reduce or reduce-scatter, a few at a time.
class MessageReduction final : public MessageCollective {
 public:
  using MessageCollective::MessageCollective;

 private:
  static constexpr int kBlocks = 4;  // under way at once, with two tags each
  static_assert(2 * kBlocks < MessageMembers::kTagsEach - 1);

  bool scatters() const { return request_.kind == CollectiveKind::reduce_scatter; }
  /// Returns the data that is read: an all-reduce works in place.
  ConstTensorView data() const { return scatters() ? request_.input : request_.output; }

  /// Chooses the size of blocks, which bound the memory that pieces take, and overlap one's sum
  /// with another's way.
  void begin() override {
    const auto element = static_cast<Index>(size_of(request_.output.dtype));
    constexpr Index kUnit = 64;  // elements
    const Index limit = std::clamp((Index{4} << 20) / size(), Index{16} << 10, Index{1} << 20);
    const Index share = request_.output.numel() / (scatters() ? 1 : size()) + 1;
    piece_ = std::min(limit / element, (share + kUnit - 1) / kUnit * kUnit);
  }

  /// Keeps as many blocks under way as there are tags for.
  bool advance() override {
    std::erase_if(blocks_, [this](auto& block) { return block.second->step(request_.reduction); });
    while (next_ < request_.output.numel() && place_of_next_is_free()) {
      auto block = make_block();
      block->begin(tag(2 * static_cast<int>(number_ % kBlocks)));
      blocks_.emplace_back(number_++, std::move(block));
    }
    return blocks_.empty();
  }
  /// Lists absent ranks; only blocks in the earlier phase tell, since whoever is missing there
  /// holds up the others, too.
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
  /// Tells whether the tags of the next block are free, which an earlier one may still use.
  bool place_of_next_is_free() const {
    return std::none_of(blocks_.begin(), blocks_.end(), [this](const auto& block) {
      return block.first % kBlocks == number_ % kBlocks;
    });
  }

  /// Cuts the next block of the output; unequal parts of reduce_scatter keep their own bounds.
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
    return std::make_unique<ReduceBlock>(members_, data(), std::move(pieces),
                                         output() + own * element, scatters() ? nullptr : output());
  }

  Index piece_ = 1;  // elements of a member's share that a block holds
  Index next_ = 0;   // of the output: where the next block begins
  std::uint64_t number_ = 0;
  std::vector<std::pair<std::uint64_t, std::unique_ptr<ReduceBlock>>> blocks_;
};

}  // namespace

std::shared_ptr<Operation> make_message_reduction(MessageMembers& members, const Request& request,
                                                  std::uint64_t sequence) {
  return std::make_shared<MessageReduction>(members, request, sequence);
}

}  // namespace mpitron::comm
