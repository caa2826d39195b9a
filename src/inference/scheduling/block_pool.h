#pragma once
#include <optional>
#include <vector>

#include "tokenizers/core/tokenizer.h"
#include "utils/text/hash.h"

namespace mpitron::inference {

using tokenizers::TokenId;
using tokenizers::TokenIds;

/// Knows who uses which block of the cache, and which full blocks hold which tokens. A block
/// without users stays as long as nobody needs it, and is found again by the tokens that lead to
/// its end. All memory is taken at construction.
class BlockPool {
 public:
  /// `owners`: block b belongs to owner b % owners.
  BlockPool(Index blocks, Index block_size, Index owners = 1);

  /// An owner's block for one user; nothing where all are in use. Takes one that holds nothing,
  /// else the one that was given back first.
  std::optional<Index> take(Index owner = 0);
  /// One user more.
  void share(Index block);
  /// One user less.
  void give_back(Index block);
  /// Blocks that take() can hand out, of all owners or of one.
  Index available() const;
  Index available(Index owner) const { return shelves_[at(owner)].count(); }
  Index users(Index block) const { return blocks_[at(block)].users; }
  /// The key by which a block was known last.
  const Hash128& key(Index block) const { return blocks_[at(block)].key; }

  /// A full block, and the key that stands for all tokens up to its end.
  struct Known {
    Index block;
    Hash128 key;
  };
  /// A full block of `ids` can be found from now on behind the tokens that `before` stands for; the
  /// first block's `before` tells apart what must never be shared (model, adapter, salt). Where one
  /// is known already it stays the one found. The key of the one found.
  Hash128 remember(Index block, const Hash128& before, std::span<const TokenId> ids);
  /// One user more of the block that holds exactly these tokens behind those before.
  std::optional<Known> find(const Hash128& before, std::span<const TokenId> ids);

 private:
  struct Block {
    Index users = 0;
    bool known = false;
    Hash128 before, key;
    Index older = -1, younger = -1;  // neighbours among those without users that are known
  };
  /// Blocks of an owner that nobody uses: those that hold nothing, and a list of the others by the
  /// time that they have been there.
  struct Shelf {
    std::vector<Index> free;
    Index oldest = -1, youngest = -1, idle = 0;

    Index count() const { return static_cast<Index>(free.size()) + idle; }
  };
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  Shelf& shelf_of(Index block) { return shelves_[at(block) % shelves_.size()]; }
  std::span<TokenId> ids_of(Index block);
  std::size_t place_of(const Hash128& before, std::span<const TokenId> ids);
  std::size_t home_of(const Hash128& before, std::span<const TokenId> ids) const;
  void forget(Index block);
  void add_idle(Index block);
  void take_from_idle(Index block);

  Index block_size_;
  std::vector<Block> blocks_;
  TokenIds ids_;                // [blocks, block_size]
  std::vector<Shelf> shelves_;  // by owner
  std::vector<Index> table_;    // known blocks by their tokens, open addressing; -1: none
  std::uint64_t next_key_ = 1;
};

}  // namespace mpitron::inference
