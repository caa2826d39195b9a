#include "train/log/rank_spread.h"

#include <algorithm>
#include <array>

namespace mpitron::train {

/// Sorts the busy times of all ranks: the fastest, the median, the slowest and who that is.
RankSpread gather_spread(const RankLoad& own, const Gather& gather) {
  const std::array mine{own.busy_seconds, own.memory_mib};
  const std::vector<float> all = gather(mine);
  RankSpread spread;
  std::vector<float> busy;
  for (std::size_t at = 0; at < all.size(); at += mine.size()) {
    busy.push_back(all[at]);
    spread.most_memory_mib = std::max(spread.most_memory_mib, all[at + 1]);
  }
  spread.slowest_rank = std::max_element(busy.begin(), busy.end()) - busy.begin();
  std::sort(busy.begin(), busy.end());
  spread.fastest = busy.front();
  spread.median = busy[(busy.size() - 1) / 2];
  spread.slowest = busy.back();
  return spread;
}

}  // namespace mpitron::train
