#include "comm/groups/world.h"

#include <numeric>

#include "utils/system/machine.h"

namespace mpitron::comm {

std::shared_ptr<Group> World::all() {
  std::vector<Index> ranks(static_cast<std::size_t>(size()));
  std::iota(ranks.begin(), ranks.end(), Index{0});
  return make_group("world", ranks);
}

std::string World::host(Index) const {
  return host_name();
}

std::unique_ptr<device::Allocator> World::make_allocator() {
  return std::make_unique<device::CachingHostAllocator>();
}

}  // namespace mpitron::comm
