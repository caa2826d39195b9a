// Keeps the table of blocks of each sequence. Blocks that several sequences read are copied before
// one writes; full ones are found again by later prompts that begin with the same tokens, states as
// long as the block that leads to them is known.
#include "inference/scheduling/sequence_blocks.h"

#include <algorithm>

namespace mpitron::inference {

/// Takes a block, which forgets what it held, and with it the states behind that.
std::optional<Index> SequenceBlocks::take_fresh(Index owner) {
  const std::optional<Index> block = pool_.take(owner);
  if (block) {
    snapshots_.forget(pool_.key(*block));
  }
  return block;
}

/// Takes block `number` of a sequence.
bool SequenceBlocks::take(std::size_t number, const MakeRoom& make_room, Index& block) {
  for (;;) {
    if (const auto taken = take_fresh(owner_of(number))) {
      block = *taken;
      return true;
    }
    if (!make_room()) {
      return false;
    }
  }
}

/// Gives a sequence blocks for its first `tokens` tokens. A block that others use too is copied
/// before it is written; where the pool is empty `make_room` may free some.
bool SequenceBlocks::grow(Sequence& sequence, Index tokens, std::vector<PlaceCopy>& copies,
                          const MakeRoom& make_room) {
  const auto next = static_cast<std::size_t>(sequence.computed / block_size_);
  while (next < sequence.blocks.size() && pool_.users(sequence.blocks[next]) > 1) {
    Index own = 0;
    if (!take(next, make_room, own)) {
      return false;
    }
    copies.push_back({sequence.blocks[next], own});
    pool_.give_back(std::exchange(sequence.blocks[next], own));
  }
  while (static_cast<Index>(sequence.blocks.size()) < blocks_for(tokens)) {
    Index block = 0;
    if (!take(sequence.blocks.size(), make_room, block)) {
      return false;
    }
    sequence.blocks.push_back(block);
  }
  return true;
}

Index SequenceBlocks::room_behind(Sequence& sequence, Index most) {
  while (static_cast<Index>(sequence.blocks.size()) < blocks_for(sequence.size() + most)) {
    const auto block = take_fresh(owner_of(sequence.blocks.size()));
    if (!block) {
      break;
    }
    sequence.blocks.push_back(*block);
  }
  return std::min(most, static_cast<Index>(sequence.blocks.size()) * block_size_ - sequence.size());
}

Index SequenceBlocks::room_within(const Sequence& sequence, Index tokens) const {
  const auto next = static_cast<std::size_t>(sequence.computed / block_size_);
  const bool own = next < sequence.blocks.size() && pool_.users(sequence.blocks[next]) == 1;
  const Index end = static_cast<Index>(sequence.blocks.size()) * block_size_;
  return own ? std::min(tokens, end - sequence.computed) : Index{0};
}

/// Tells whether the blocks that a sequence's tokens, and its encoder's, still need are free.
bool SequenceBlocks::has_room(const Sequence& sequence) const {
  const auto encoded = static_cast<Index>(sequence.encoder.tokens.size());
  const auto found = static_cast<Index>(sequence.blocks.size());
  const Index wanted = blocks_for(sequence.size());
  for (Index owner = 0; owner < owners_; ++owner) {
    const auto below = [&](Index count) { return (count - owner + owners_ - 1) / owners_; };
    const Index own = below(wanted) - below(found) + (owner == 0 ? blocks_for(encoded) : 0);
    if (own > pool_.available(owner)) {
      return false;
    }
  }
  return true;
}

void SequenceBlocks::take_encoded(Sequence& sequence) {
  const auto encoded = static_cast<Index>(sequence.encoder.tokens.size());
  while (static_cast<Index>(sequence.encoder.blocks.size()) < blocks_for(encoded)) {
    sequence.encoder.blocks.push_back(*take_fresh(0));
  }
}

void SequenceBlocks::share(const Sequence& other, Sequence& sequence) {
  for (const std::vector<Index>* blocks : {&other.blocks, &other.encoder.blocks}) {
    std::ranges::for_each(*blocks, [&](Index block) { pool_.share(block); });
  }
  sequence.blocks.assign(other.blocks.begin(), other.blocks.end());
  sequence.keys.assign(other.keys.begin(), other.keys.end());
  sequence.encoder.blocks = other.encoder.blocks;
  sequence.encoder.done = other.encoder.done;
  sequence.computed = other.computed;
  sequence.states = {.last = other.states.last, .known = other.states.known};
}

/// The last ones first: prefixes stay longest.
void SequenceBlocks::give_back(Sequence& sequence) {
  for (auto block = sequence.blocks.rbegin(); block != sequence.blocks.rend(); ++block) {
    pool_.give_back(*block);
  }
  for (const Index block : sequence.encoder.blocks) {
    pool_.give_back(block);
  }
  sequence.blocks.clear();
  sequence.encoder.blocks.clear();
  sequence.keys.clear();
  sequence.computed = 0;
  sequence.states = {};
  sequence.encoder.done = false;
}

/// Returns the ids of the block that begins with token `first`.
std::span<const TokenId> SequenceBlocks::ids_of(const Sequence& sequence, Index first) const {
  return std::span(sequence.tokens)
      .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(block_size_));
}

/// Tells whether a sequence can go on behind the known blocks that it has: a block that ends in an
/// image depends on what comes behind it, which may be another image; layers with states need
/// theirs.
bool SequenceBlocks::begins_here(const Sequence& sequence) const {
  const auto last = static_cast<std::size_t>(sequence.computed - 1);
  return !(whole_images_ && sequence.tokens[last] < 0) &&
         !(keeps_states_ && !snapshots_.has(sequence.keys.back()));
}

/// Finds the longest prefix of full blocks that the pool knows, block after block. A prompt whose
/// own log-probabilities are wanted is computed all the same.
void SequenceBlocks::find_prefix(Sequence& sequence) {
  Hash128 key = hash128(sequence.salt);
  const bool scores = sequence.scores_prompt && sequence.scored < sequence.prompt_size;
  const Index usable = scores ? 0 : sequence.size() - 1;
  while (finds_prefixes_ && sequence.computed + block_size_ <= usable) {
    const auto found = pool_.find(key, ids_of(sequence, sequence.computed));
    if (!found) {
      break;
    }
    key = found->key;
    sequence.blocks.push_back(found->block);
    sequence.keys.push_back(key);
    sequence.computed += block_size_;
  }
  sequence.states = {.known = sequence.computed};
  while (sequence.computed > 0 && !begins_here(sequence)) {
    pool_.give_back(sequence.blocks.back());
    sequence.blocks.pop_back();
    sequence.keys.pop_back();
    sequence.computed -= block_size_;
  }
  sequence.states.last = sequence.computed;
  if (keeps_states_ && sequence.computed > 0) {
    sequence.states.place = snapshots_.use(sequence.keys.back());
  }
}

void SequenceBlocks::remember(Sequence& sequence) {
  const auto full = static_cast<std::size_t>(sequence.computed / block_size_);
  while (finds_prefixes_ && sequence.keys.size() < full) {
    const std::size_t index = sequence.keys.size();
    const Hash128 before = index == 0 ? hash128(sequence.salt) : sequence.keys.back();
    const auto ids = ids_of(sequence, static_cast<Index>(index) * block_size_);
    sequence.keys.push_back(pool_.remember(sequence.blocks[index], before, ids));
  }
}

/// States are known by the last full block, which may be another one of the same tokens.
std::optional<Index> SequenceBlocks::keep_states(Sequence& sequence,
                                                 const KeptPositions& positions) {
  const auto use = keeps_states_ ? positions.use_at(sequence, sequence.computed) : std::nullopt;
  if (!use) {
    return std::nullopt;
  }
  sequence.states.last = sequence.computed;
  return snapshots_.keep(sequence.keys.back(), *use);
}

}  // namespace mpitron::inference
