#include "checkpoint/plan/replicas.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "checkpoint/plan/shard_cover.h"
#include "utils/error.h"

// Finds the ranks that hold the same elements. Shards of one data set must cover it once; within a
// shard, distributed optimizers cut anywhere, so the cuts of all holders together make the ranges
// that are shared out.

namespace mpitron::checkpoint {
std::vector<std::vector<ShardHolders>> shards_by_data_set(const Holdings& holdings) {
  std::vector<std::vector<ShardHolders>> result(holdings.data_sets.size());
  std::unordered_map<std::size_t, std::size_t> places;  // of a data set's map among its shards
  for (Index rank = 0; rank < holdings.ranks(); ++rank) {
    const std::vector<Holdings::Item>& items = holdings.items(rank);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto data_set = static_cast<std::size_t>(items[i].data_set);
      const auto map = static_cast<std::size_t>(items[i].map);
      std::vector<ShardHolders>& shards = result[data_set];
      const auto [place, added] =
          places.try_emplace(data_set * holdings.maps.size() + map, shards.size());
      if (added) {
        shards.push_back({items[i].map, {}});
      }
      const Holdings::Cut& cut = holdings.cuts[static_cast<std::size_t>(rank)][i];
      shards[place->second].holders.push_back({rank, static_cast<Index>(i), cut.begin, cut.end});
    }
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    const DataSet& data_set = holdings.data_sets[i];
    std::erase_if(result[i], [&](const ShardHolders& shard) {
      return data_set.shape.numel() > 0 && map_of(holdings, shard).columns.empty();
    });
    std::sort(result[i].begin(), result[i].end(), [&](const auto& a, const auto& b) {
      return map_of(holdings, a).columns < map_of(holdings, b).columns;
    });
    check_shards(holdings, data_set, result[i]);
  }
  return result;
}

/// Sweeps over all ends in order, with the holders that are open there.
std::vector<Replicas> split_into_replicas(const std::string& name, Index numel,
                                          std::vector<Holder> holders) {
  std::erase_if(holders, [](const Holder& holder) { return holder.begin == holder.end; });
  std::stable_sort(holders.begin(), holders.end(),
                   [](const Holder& a, const Holder& b) { return a.begin < b.begin; });
  std::vector<Index> ends = {0, numel};
  for (const Holder& holder : holders) {
    ends.push_back(holder.begin);
    ends.push_back(holder.end);
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());

  std::vector<Replicas> parts;
  std::vector<Holder> active;
  std::size_t next = 0;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    std::erase_if(active, [&](const Holder& holder) { return holder.end <= ends[i]; });
    for (; next < holders.size() && holders[next].begin == ends[i]; ++next) {
      active.push_back(holders[next]);
    }
    if (active.empty()) {
      throw_data("checkpoint: no rank holds elements {} to {} of a shard of {} of tensor {}",
                 ends[i], ends[i + 1], numel, name);
    }
    parts.push_back({ends[i], ends[i + 1], active});
    std::stable_sort(parts.back().holders.begin(), parts.back().holders.end(),
                     [](const Holder& a, const Holder& b) { return a.rank < b.rank; });
  }
  return parts;
}

/// Fills the least loaded up to a level, as water in vessels: another candidate joins while the
/// level stays above its load by at least `least`.
std::vector<Share> even_shares(Index bytes, Index least,
                               const std::vector<Index>& candidate_loads) {
  const auto candidates = static_cast<Index>(candidate_loads.size());
  const Index most = std::clamp<Index>(bytes / least, 1, candidates);
  std::vector<Index> order(candidate_loads.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto load = [&](Index i) { return candidate_loads[static_cast<std::size_t>(i)]; };
  std::partial_sort(order.begin(), order.begin() + most, order.end(), [&](Index a, Index b) {
    return load(a) != load(b) ? load(a) < load(b) : a < b;
  });
  // The loads of the first `count` are raised to one level.
  Index count = 1;
  Index level = load(order[0]) + bytes;
  Index sum = level;
  for (; count < most; ++count) {
    const Index next = load(order[static_cast<std::size_t>(count)]);
    if ((sum + next) / (count + 1) < next + least) {
      break;
    }
    sum += next;
    level = sum / (count + 1);
  }
  std::vector<Share> shares;
  Index left = bytes;
  for (Index i = 0; i < count; ++i) {
    const Index candidate = order[static_cast<std::size_t>(i)];
    const Index share = i + 1 == count ? left : level - load(candidate);
    shares.push_back({candidate, share});
    left -= share;
  }
  std::sort(shares.begin(), shares.end(),
            [](const Share& a, const Share& b) { return a.candidate < b.candidate; });
  return shares;
}

}  // namespace mpitron::checkpoint
