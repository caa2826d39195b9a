#pragma once
#include <functional>

#include "inference/scheduling/block_pool.h"
#include "inference/scheduling/kept_positions.h"

namespace mpitron::inference {

/// The blocks of a scheduler's sequences: taken as they grow, shared until somebody writes, found
/// again by the tokens that lead to them. Where layers carry states, a beginning is found up to
/// where these are kept, too.
class SequenceBlocks {
 public:
  /// `finds_prefixes`: full blocks are found again.
  SequenceBlocks(const EngineShape& shape, bool finds_prefixes)
      : block_size_(shape.block_size),
        finds_prefixes_(finds_prefixes && (shape.states == 0 || shape.snapshots > 0)),
        keeps_states_(finds_prefixes_ && shape.states > 0),
        whole_images_(shape.whole_images),
        pool_(shape.blocks, shape.block_size, shape.block_owners),
        snapshots_(shape.states, keeps_states_ ? shape.snapshots : 0),
        owners_(shape.block_owners) {}

  /// Blocks of so many tokens.
  Index blocks_for(Index tokens) const { return (tokens + block_size_ - 1) / block_size_; }
  /// Counts the blocks that nobody uses.
  Index available() const { return pool_.available(); }

  /// Called where no block is left: gives some back and returns true, or false where nobody else is
  /// to do so.
  using MakeRoom = std::function<bool()>;
  /// Takes blocks for the first `tokens` tokens; those from the next one to be computed on become
  /// the sequence's own, copies where others use them, too. False, with what there was, where no
  /// room is made.
  bool grow(Sequence& sequence, Index tokens, std::vector<PlaceCopy>& copies,
            const MakeRoom& make_room);
  /// Returns for how many of `most` tokens behind the sequence's last there are blocks that nobody
  /// misses.
  Index room_behind(Sequence& sequence, Index most);
  /// How many of the next `tokens` that are to be computed have blocks of the sequence's own.
  Index room_within(const Sequence& sequence, Index tokens) const;
  /// Whether there are blocks for all tokens that the sequence has, beside those found for it.
  bool has_room(const Sequence& sequence) const;
  /// Takes blocks for what its encoder leaves, where has_room() said so.
  void take_encoded(Sequence& sequence);
  /// The sequence has what `other` has, too.
  void share(const Sequence& other, Sequence& sequence);
  /// Gives back all of them; nothing of the sequence is computed any more.
  void give_back(Sequence& sequence);

  /// Gives the sequence the known blocks that hold its beginning, without its last token, whose
  /// logits are needed.
  void find_prefix(Sequence& sequence);
  /// Full blocks of what was computed can be found.
  void remember(Sequence& sequence);

  /// Returns the place to which the states behind what was computed are to be copied, where a
  /// sequence has reached one of `positions`; call remember() before.
  std::optional<Index> keep_states(Sequence& sequence, const KeptPositions& positions);
  /// Whether states of beginnings are kept at all.
  bool keeps_states() const { return keeps_states_; }
  Index kept_states() const { return snapshots_.kept(); }
  /// Forgets all kept states.
  void forget_states() { snapshots_.clear(); }

 private:
  std::optional<Index> take_fresh(Index owner);
  bool take(std::size_t number, const MakeRoom& make_room, Index& block);
  bool begins_here(const Sequence& sequence) const;
  Index owner_of(std::size_t number) const { return static_cast<Index>(number) % owners_; }
  std::span<const TokenId> ids_of(const Sequence& sequence, Index first) const;

  Index block_size_;
  bool finds_prefixes_, keeps_states_, whole_images_;
  BlockPool pool_;
  StateSnapshots snapshots_;  // of beginnings that end with a known block
  Index owners_;
};

}  // namespace mpitron::inference
