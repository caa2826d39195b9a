#pragma once
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tokenizers/core/tokenizer.h"
#include "utils/text/hash.h"

namespace mpitron::inference {

using tokenizers::TokenId;
using tokenizers::TokenIds;

/// Who uses which block of the cache, and which full blocks hold which tokens. A block without
/// users stays as long as nobody needs it, and is found again by the tokens that lead to its end.
class BlockPool {
 public:
  explicit BlockPool(Index blocks);

  /// A block for one user; nothing where all are in use. Takes one that holds nothing, else the
  /// one that was given back first.
  std::optional<Index> take();
  /// One user less.
  void give_back(Index block);
  /// Blocks that take() can hand out.
  Index available() const { return static_cast<Index>(free_.size() + idle_.size()); }
  Index users(Index block) const { return blocks_[static_cast<std::size_t>(block)].users; }

  /// The key of a block that holds `ids` behind the tokens that `before` stands for; the first
  /// block's `before` tells apart what must never be shared (model, adapter, salt).
  static Hash128 key(const Hash128& before, std::span<const TokenId> ids);
  /// A full block can be found from now on; another one with the same key stays the one found.
  void remember(Index block, const Hash128& key, std::span<const TokenId> ids);
  /// One user more of the block with this key and these tokens.
  std::optional<Index> find(const Hash128& key, std::span<const TokenId> ids);
  /// Forgets everything that can be found and has no users.
  void forget_idle();

 private:
  struct Block {
    Index users = 0;
    std::optional<Hash128> key;
    TokenIds ids;
    std::list<Index>::iterator idle;  // where `users` is 0 and `key` is set
  };
  struct Hash {
    std::size_t operator()(const Hash128& key) const { return key.low; }
  };
  void forget(Block& block);

  std::vector<Block> blocks_;
  std::vector<Index> free_;
  std::list<Index> idle_;  // oldest first
  std::unordered_map<Hash128, Index, Hash> found_by_;
};

}  // namespace mpitron::inference
