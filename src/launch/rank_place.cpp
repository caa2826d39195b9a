#include "launch/rank_place.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

// Places of ranks on cores, memory nodes and GPUs: sent to rank 0 as text, and told as a map that
// joins nodes that look alike.

namespace mpitron::launch {
namespace {

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

std::vector<Index> read_numbers(const std::string& text) {
  std::istringstream words(text);
  std::vector<Index> numbers;
  for (Index number = 0; words >> number;) {
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

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

std::string ranges(const std::vector<Index>& numbers) {
  return join_runs(numbers, 1);
}

}  // namespace mpitron::launch
