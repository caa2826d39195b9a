#include "inference/scheduling/block_pool.h"

#include <algorithm>

#include "utils/check.h"

namespace mpitron::inference {

BlockPool::BlockPool(Index blocks) : blocks_(static_cast<std::size_t>(blocks)) {
  for (Index block = blocks - 1; block >= 0; --block) {
    free_.push_back(block);
  }
}

void BlockPool::forget(Block& block) {
  found_by_.erase(*block.key);
  block.key.reset();
  block.ids.clear();
}

std::optional<Index> BlockPool::take() {
  Index taken = 0;
  if (!free_.empty()) {
    taken = free_.back();
    free_.pop_back();
  } else if (!idle_.empty()) {
    taken = idle_.front();
    idle_.pop_front();
    forget(blocks_[static_cast<std::size_t>(taken)]);
  } else {
    return std::nullopt;
  }
  blocks_[static_cast<std::size_t>(taken)].users = 1;
  return taken;
}

void BlockPool::give_back(Index index) {
  Block& block = blocks_[static_cast<std::size_t>(index)];
  MPITRON_CHECK(block.users > 0, index);
  if (--block.users > 0) {
    return;
  }
  if (block.key) {
    block.idle = idle_.insert(idle_.end(), index);
  } else {
    free_.push_back(index);
  }
}

Hash128 BlockPool::key(const Hash128& before, std::span<const TokenId> ids) {
  Hasher128 hasher;
  hasher.update({reinterpret_cast<const char*>(&before), sizeof before});
  hasher.update({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()});
  return hasher.digest();
}

void BlockPool::remember(Index index, const Hash128& key, std::span<const TokenId> ids) {
  Block& block = blocks_[static_cast<std::size_t>(index)];
  if (!block.key && found_by_.try_emplace(key, index).second) {
    block.key = key;
    block.ids.assign(ids.begin(), ids.end());
  }
}

std::optional<Index> BlockPool::find(const Hash128& key, std::span<const TokenId> ids) {
  const auto found = found_by_.find(key);
  if (found == found_by_.end()) {
    return std::nullopt;
  }
  Block& block = blocks_[static_cast<std::size_t>(found->second)];
  if (!std::ranges::equal(block.ids, ids)) {
    return std::nullopt;
  }
  if (block.users++ == 0) {
    idle_.erase(block.idle);
  }
  return found->second;
}

void BlockPool::forget_idle() {
  for (const Index index : idle_) {
    forget(blocks_[static_cast<std::size_t>(index)]);
    free_.push_back(index);
  }
  idle_.clear();
}

}  // namespace mpitron::inference
