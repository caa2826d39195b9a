#include "inference/scheduling/block_pool.h"

#include <algorithm>
#include <bit>

#include "utils/check.h"

// Full blocks are found by their tokens and the key of the block before, in an open-addressed table
// of fixed size. A known block without users waits in a list, oldest first, until somebody needs
// its memory or its contents.

namespace mpitron::inference {

BlockPool::BlockPool(Index blocks, Index block_size, Index owners)
    : block_size_(block_size),
      blocks_(at(blocks)),
      ids_(at(blocks * block_size)),
      shelves_(at(owners)),
      table_(std::bit_ceil(static_cast<std::size_t>(2 * blocks + 1)), -1) {
  for (Shelf& shelf : shelves_) {
    shelf.free.reserve(blocks_.size());
  }
  for (Index block = blocks - 1; block >= 0; --block) {
    shelf_of(block).free.push_back(block);
  }
}

Index BlockPool::available() const {
  Index sum = 0;
  for (const Shelf& shelf : shelves_) {
    sum += shelf.count();
  }
  return sum;
}

std::span<TokenId> BlockPool::ids_of(Index block) {
  const auto size = static_cast<std::size_t>(block_size_);
  return std::span(ids_).subspan(static_cast<std::size_t>(block) * size, size);
}

std::size_t BlockPool::home_of(const Hash128& before, std::span<const TokenId> ids) const {
  const std::uint64_t hash = hash64({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()},
                                    before.low ^ before.high);
  return static_cast<std::size_t>(hash) & (table_.size() - 1);
}

/// Returns the place where these tokens are listed, or else the empty place where they would be.
std::size_t BlockPool::place_of(const Hash128& before, std::span<const TokenId> ids) {
  std::size_t place = home_of(before, ids);
  for (; table_[place] >= 0; place = (place + 1) & (table_.size() - 1)) {
    const Block& block = blocks_[static_cast<std::size_t>(table_[place])];
    if (block.before == before && std::ranges::equal(ids_of(table_[place]), ids)) {
      break;
    }
  }
  return place;
}

/// Removes an entry; those listed behind it move up, so that no search ends too early.
void BlockPool::forget(Index index) {
  Block& block = blocks_[at(index)];
  block.known = false;
  const std::size_t mask = table_.size() - 1;
  std::size_t hole = place_of(block.before, ids_of(index));
  for (std::size_t next = (hole + 1) & mask; table_[next] >= 0; next = (next + 1) & mask) {
    const Block& other = blocks_[static_cast<std::size_t>(table_[next])];
    const std::size_t home = home_of(other.before, ids_of(table_[next]));
    if (((next - home) & mask) >= ((next - hole) & mask)) {
      table_[hole] = table_[next];
      hole = next;
    }
  }
  table_[hole] = -1;
}

void BlockPool::add_idle(Index index) {
  Block& block = blocks_[at(index)];
  Shelf& shelf = shelf_of(index);
  block.older = shelf.youngest;
  block.younger = -1;
  (shelf.youngest >= 0 ? blocks_[at(shelf.youngest)].younger : shelf.oldest) = index;
  shelf.youngest = index;
  ++shelf.idle;
}

void BlockPool::take_from_idle(Index index) {
  const Block& block = blocks_[at(index)];
  Shelf& shelf = shelf_of(index);
  (block.older >= 0 ? blocks_[at(block.older)].younger : shelf.oldest) = block.younger;
  (block.younger >= 0 ? blocks_[at(block.younger)].older : shelf.youngest) = block.older;
  --shelf.idle;
}

/// Takes a block: a free one, else the oldest that nobody uses and whose tokens are then forgotten.
std::optional<Index> BlockPool::take(Index owner) {
  Shelf& shelf = shelves_[at(owner)];
  Index index = -1;
  if (!shelf.free.empty()) {
    index = shelf.free.back();
    shelf.free.pop_back();
  } else if (shelf.oldest >= 0) {
    index = shelf.oldest;
    take_from_idle(index);
    forget(index);
  } else {
    return std::nullopt;
  }
  blocks_[at(index)].users = 1;
  return index;
}

void BlockPool::share(Index index) {
  Block& block = blocks_[at(index)];
  MPITRON_CHECK(block.users > 0, index);
  ++block.users;
}

void BlockPool::give_back(Index index) {
  Block& block = blocks_[at(index)];
  MPITRON_CHECK(block.users > 0, index, block.users);
  if (--block.users > 0) {
    return;
  }
  if (block.known) {
    add_idle(index);
  } else {
    shelf_of(index).free.push_back(index);
  }
}

/// Makes a full block known by its tokens and the block before it. Where another block holds the
/// same, that one's name is returned, and this one stays unknown.
Hash128 BlockPool::remember(Index index, const Hash128& before, std::span<const TokenId> ids) {
  Block& block = blocks_[at(index)];
  if (block.known) {
    return block.key;
  }
  const std::size_t place = place_of(before, ids);
  if (table_[place] >= 0) {
    return blocks_[static_cast<std::size_t>(table_[place])].key;
  }
  table_[place] = index;
  std::ranges::copy(ids, ids_of(index).begin());
  block.known = true;
  block.before = before;
  block.key = {0, next_key_++};
  return block.key;
}

std::optional<BlockPool::Known> BlockPool::find(const Hash128& before,
                                                std::span<const TokenId> ids) {
  const Index index = table_[place_of(before, ids)];
  if (index < 0) {
    return std::nullopt;
  }
  Block& block = blocks_[at(index)];
  if (block.users++ == 0) {
    take_from_idle(index);
  }
  return Known{index, block.key};
}

}  // namespace mpitron::inference
