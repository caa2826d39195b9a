#include "comm/world.h"

#include <numeric>

namespace mpitron::comm {

std::shared_ptr<Group> World::all() {
  std::vector<Index> ranks(static_cast<std::size_t>(size()));
  std::iota(ranks.begin(), ranks.end(), Index{0});
  return make_group("world", ranks);
}

}  // namespace mpitron::comm
