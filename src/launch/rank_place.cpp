#include "launch/rank_place.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

// Places of ranks on cores, memory nodes and GPUs: sent to rank 0 as text, told as a map that joins
// nodes that look alike, and checked for ranks that get in each other's way.

namespace mpitron::launch {

namespace {

/// The ranks of one machine, in order.
struct NodeRanks {
  std::string name;
  std::vector<Index> ranks;
};

std::vector<NodeRanks> by_node(const std::vector<RankPlace>& places) {
  std::vector<NodeRanks> nodes;
  std::map<std::string, std::size_t> index;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const auto [at, is_new] = index.emplace(places[rank].node, nodes.size());
    if (is_new) {
      nodes.push_back({places[rank].node, {}});
    }
    nodes[at->second].ranks.push_back(static_cast<Index>(rank));
  }
  return nodes;
}

/// Returns "a | b | c", or "a" where all are the same.
std::string alternatives(const std::vector<std::string>& texts) {
  const bool same = std::all_of(texts.begin(), texts.end(),
                                [&](const std::string& text) { return text == texts[0]; });
  return same ? texts[0] : fmt::format("{}", fmt::join(texts, " | "));
}

/// Describes what the ranks of a node have, without their numbers: nodes with the same text become
/// one line.
std::string description(const NodeRanks& node, const std::vector<RankPlace>& places) {
  std::vector<std::string> cores, numa, gpus;
  bool bound = false;
  bool has_gpu = false;
  for (const Index rank : node.ranks) {
    const RankPlace& place = places[static_cast<std::size_t>(rank)];
    cores.push_back(ranges(place.cpus.cores));
    numa.push_back(ranges(place.cpus.numa));
    gpus.push_back(place.gpu.empty() ? "none" : place.gpu);
    bound = bound || !place.cpus.whole_machine;
    has_gpu = has_gpu || !place.gpu.empty();
  }
  return fmt::format("{}cores {}, NUMA {}{}", bound ? "" : "not bound, ", alternatives(cores),
                     alternatives(numa), has_gpu ? ", GPU " + alternatives(gpus) : "");
}

/// Returns the places of the ranks relative to the first.
std::vector<Index> pattern(const NodeRanks& node) {
  std::vector<Index> steps;
  for (const Index rank : node.ranks) {
    steps.push_back(rank - node.ranks[0]);
  }
  return steps;
}

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

std::vector<Index> read_numbers(const std::string& text) {
  std::istringstream words(text);
  std::vector<Index> numbers;
  for (Index number = 0; words >> number;) {
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

RankPlace own_place(const std::string& node, const Environment& environment) {
  const CpuBinding cpus = cpu_binding();
  return {
      .node = node,
      .cpus = cpus,
      .threads =
          number_of(environment, "OMP_NUM_THREADS").value_or(std::max<Index>(1, cpus.processors)),
      .gpu = {}};
}

std::string to_text(const RankPlace& place) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}", place.node, fmt::join(place.cpus.cores, " "),
                     fmt::join(place.cpus.numa, " "), place.cpus.processors,
                     place.cpus.whole_machine ? 1 : 0, place.threads, place.gpu);
}

RankPlace read_place(const std::string& text) {
  std::istringstream line(text);
  const auto field = [&] {
    std::string word;
    std::getline(line, word, '\t');
    return word;
  };
  RankPlace place;
  place.node = field();
  place.cpus.cores = read_numbers(field());
  place.cpus.numa = read_numbers(field());
  place.cpus.processors = std::stoll(field());
  place.cpus.whole_machine = field() == "1";
  place.threads = std::stoll(field());
  place.gpu = field();
  return place;
}

std::vector<std::string> rank_map(const std::vector<RankPlace>& places) {
  const std::vector<NodeRanks> nodes = by_node(places);
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end = 0; begin < nodes.size(); begin = end) {
    const std::string text = description(nodes[begin], places);
    std::vector<std::string> names;
    std::vector<Index> ranks;
    // A line takes in neighbours that look alike.
    for (end = begin; end < nodes.size() && pattern(nodes[end]) == pattern(nodes[begin]) &&
                      description(nodes[end], places) == text;
         ++end) {
      names.push_back(nodes[end].name);
      ranks.insert(ranks.end(), nodes[end].ranks.begin(), nodes[end].ranks.end());
    }
    std::sort(ranks.begin(), ranks.end());
    lines.push_back(fmt::format(
        "rank{} {} on {}{}: {}", ranks.size() > 1 ? "s" : "", ranges(ranks), name_ranges(names),
        names.size() > 1 ? fmt::format(", {} each", nodes[begin].ranks.size()) : "", text));
  }
  return lines;
}

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

namespace {

/// "node07" is "node", 7 with two digits.
struct NumberedName {
  std::string stem;
  std::size_t digits = 0;
  Index number = 0;
};

NumberedName take_apart(const std::string& name) {
  constexpr std::size_t kMostDigits = 18;  // of an Index
  std::size_t digits = 0;
  while (digits < std::min(name.size(), kMostDigits) && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9') {
    ++digits;
  }
  const std::size_t stem = name.size() - digits;
  return {name.substr(0, stem), digits, digits > 0 ? std::stoll(name.substr(stem)) : 0};
}

/// Returns the joined ends of runs: "01-16,18".
std::string join_runs(const std::vector<Index>& numbers, std::size_t digits) {
  std::vector<std::string> runs;
  for (std::size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) {
      ++end;
    }
    runs.push_back(end - begin == 1 ? fmt::format("{:0{}}", numbers[begin], digits)
                                    : fmt::format("{:0{}}-{:0{}}", numbers[begin], digits,
                                                  numbers[end - 1], digits));
  }
  return fmt::format("{}", fmt::join(runs, ","));
}

}  // namespace

std::string ranges(const std::vector<Index>& numbers) {
  return join_runs(numbers, 1);
}

std::string name_ranges(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; begin < names.size(); begin = end) {
    const NumberedName first = take_apart(names[begin]);
    std::vector<Index> numbers = {first.number};
    for (end = begin + 1; end < names.size(); ++end) {
      const NumberedName next = take_apart(names[end]);
      if (first.digits == 0 || next.stem != first.stem || next.digits != first.digits) {
        break;
      }
      numbers.push_back(next.number);
    }
    parts.push_back(numbers.size() == 1
                        ? names[begin]
                        : fmt::format("{}[{}]", first.stem, join_runs(numbers, first.digits)));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace mpitron::launch
