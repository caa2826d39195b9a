#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "launch/rank_place.h"

// Warnings of ranks that get in each other's way: shared cores, and more threads than processors.

namespace mpitron::launch {
namespace {

/// Ranks of one node that share cores, directly or through others; alone: a rank of its own cores.
struct Sharers {
  std::vector<Index> ranks;
  std::set<Index> cores;
  Index threads = 0;
  Index processors = 0;  // of the first

  void add(const Sharers& other) {
    ranks.insert(ranks.end(), other.ranks.begin(), other.ranks.end());
    cores.insert(other.cores.begin(), other.cores.end());
    threads += other.threads;
  }
  bool meets(const Sharers& other) const {
    return std::any_of(cores.begin(), cores.end(),
                       [&](Index core) { return other.cores.contains(core); });
  }
  /// Processors that the group can use well. A rank alone may use both hardware threads of its
  /// cores; several ranks get in each other's way there.
  Index capacity() const {
    return ranks.size() == 1 ? processors : static_cast<Index>(cores.size());
  }
};

/// Joins ranks into groups one by one: a new rank takes along every group that it shares a core
/// with.
std::vector<Sharers> sharers_of(const NodeRanks& node, const std::vector<RankPlace>& places) {
  std::vector<Sharers> groups;
  for (const Index rank : node.ranks) {
    const RankPlace& place = places[static_cast<std::size_t>(rank)];
    Sharers group{.ranks = {},
                  .cores = {place.cpus.cores.begin(), place.cpus.cores.end()},
                  .threads = place.threads,
                  .processors = place.cpus.processors};
    std::erase_if(groups, [&](const Sharers& other) {
      const bool meets = other.meets(group);
      if (meets) {
        group.add(other);
      }
      return meets;
    });
    group.ranks.push_back(rank);
    groups.push_back(std::move(group));
  }
  return groups;
}

/// Returns the sentence on a group that has too many threads, with the fix.
std::string warning_about(const Sharers& group) {
  const auto count = static_cast<Index>(group.ranks.size());
  const Index capacity = group.capacity();
  if (count == 1) {
    return fmt::format(
        "{} threads on {} processors: set OMP_NUM_THREADS={}, or bind wider (mpirun --map-by "
        "slot:PE={}, srun --cpus-per-task={})",
        group.threads, capacity, capacity, group.threads, group.threads);
  }
  return fmt::format(
      "{} ranks share {} cores with {} threads in all: {}", count, capacity, group.threads,
      count > capacity
          ? fmt::format("start at most {} ranks on such a machine", capacity)
          : fmt::format("set OMP_NUM_THREADS={}, or give each its own cores (mpirun --map-by "
                        "slot:PE=N, srun --cpu-bind=cores --cpus-per-task=N)",
                        capacity / count));
}

}  // namespace

std::vector<std::string> binding_warnings(const std::vector<RankPlace>& places) {
  // One sentence for all ranks or groups that it fits.
  std::map<std::string, std::vector<Index>> found;
  for (const NodeRanks& node : by_node(places)) {
    for (const Sharers& group : sharers_of(node, places)) {
      if (group.cores.empty() || group.threads <= group.capacity()) {
        continue;
      }
      auto& ranks = found[warning_about(group)];
      ranks.insert(ranks.end(), group.ranks.begin(), group.ranks.end());
    }
  }
  std::vector<std::string> warnings;
  for (auto& [text, ranks] : found) {
    std::sort(ranks.begin(), ranks.end());
    warnings.push_back(
        fmt::format("rank{} {}: {}", ranks.size() > 1 ? "s" : "", ranges(ranks), text));
  }
  return warnings;
}

}  // namespace mpitron::launch
