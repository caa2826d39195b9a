#include "checkpoint/plan/holdings.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "checkpoint/plan/agreement.h"
#include "checkpoint/plan/described_tensors.h"
#include "utils/error.h"

// Every rank describes its tensors as a text, and equal descriptions travel once: thousands of
// ranks of one layout have few different ones. From them each rank knows who holds what, and plans
// alike without talking again.

namespace mpitron::checkpoint {
namespace {

std::string say(const DataSet& data_set) {
  return fmt::format("{} {}", name_of(data_set.dtype), to_string(data_set.shape));
}

/// Numbers names and maps.
class Catalogue {
 public:
  explicit Catalogue(Holdings& holdings) : holdings_(holdings) {}

  void add(const std::string& structure, Index rank) {
    std::vector<Holdings::Item> items;
    DescriptionReader numbers(structure);
    while (!numbers.done()) {
      const DescribedTensor described = next_described(numbers);
      items.push_back({data_set(described.data_set, rank), map(described.map)});
    }
    holdings_.structures.push_back(std::move(items));
  }

  /// Data sets get their order: by name.
  void sort() {
    std::vector<DataSet> sorted;
    std::vector<Index> place(known_.size());
    for (const auto& [name, known] : known_) {
      place[static_cast<std::size_t>(known.number)] = static_cast<Index>(sorted.size());
      sorted.push_back(known.data_set);
    }
    holdings_.data_sets = std::move(sorted);
    for (std::vector<Holdings::Item>& items : holdings_.structures) {
      for (Holdings::Item& item : items) {
        item.data_set = place[static_cast<std::size_t>(item.data_set)];
      }
    }
  }

 private:
  struct Known {
    DataSet data_set;
    Index number;
    Index rank;
  };

  Index data_set(const DataSet& data_set, Index rank) {
    const auto [place, added] =
        known_.try_emplace(data_set.name, Known{data_set, static_cast<Index>(known_.size()), rank});
    const Known& known = place->second;
    if (!(known.data_set == data_set)) {
      throw_data("checkpoint: tensor {} is {} on rank {} and {} on rank {}: both must be the same",
                 data_set.name, say(known.data_set), known.rank, say(data_set), rank);
    }
    return known.number;
  }

  Index map(const ShardMap& map) {
    const auto [place, added] = maps_.try_emplace(map, static_cast<Index>(maps_.size()));
    if (added) {
      holdings_.maps.push_back(map);
    }
    return place->second;
  }

  Holdings& holdings_;
  std::map<std::string, Known> known_;
  std::map<ShardMap, Index> maps_;
};

/// Makes holdings; `structure(rank)` is called for the first rank of each structure.
template <class Structure>
Holdings assemble(std::span<const Index> structure_of, std::vector<std::vector<Holdings::Cut>> cuts,
                  Structure&& structure) {
  Holdings holdings;
  Catalogue catalogue(holdings);
  for (std::size_t rank = 0; rank < structure_of.size(); ++rank) {
    if (structure_of[rank] == static_cast<Index>(holdings.structures.size())) {
      catalogue.add(structure(static_cast<Index>(rank)), static_cast<Index>(rank));
    }
  }
  catalogue.sort();
  holdings.structure_of.assign(structure_of.begin(), structure_of.end());
  holdings.cuts = std::move(cuts);
  for (Index rank = 0; rank < holdings.ranks(); ++rank) {
    MPITRON_CHECK(
        holdings.items(rank).size() == holdings.cuts[static_cast<std::size_t>(rank)].size(), rank);
  }
  return holdings;
}

/// Gives equal keys equal numbers, in the order of their first appearance: the same on every rank.
template <class Key>
std::vector<Index> number(const std::vector<Key>& keys) {
  std::unordered_map<Key, Index> numbers;
  std::vector<Index> result;
  for (const Key& key : keys) {
    result.push_back(numbers.try_emplace(key, static_cast<Index>(numbers.size())).first->second);
  }
  return result;
}

}  // namespace

/// Describes tensors in the order of their visit, without values.
Description::Description(std::span<const tensor::ShardedTensor> tensors) {
  for (const tensor::ShardedTensor& tensor : tensors) {
    const ShardMap map(tensor.shape, tensor.shard);
    const Index end = tensor.begin + tensor.value.numel();
    MPITRON_CHECK(0 <= tensor.begin && end <= map.numel(), tensor.name, tensor.begin, end,
                  map.numel());
    MPITRON_CHECK(tensor.value.contiguous(), tensor.name);
    put_description(structure, tensor, map);
    cuts.push_back({tensor.begin, end});
  }
}

Holdings make_holdings(std::span<const Description> ranks) {
  std::vector<std::string> structures;
  std::vector<std::vector<Holdings::Cut>> cuts;
  for (const Description& rank : ranks) {
    structures.push_back(rank.structure);
    cuts.push_back(rank.cuts);
  }
  return assemble(number(structures), std::move(cuts),
                  [&](Index rank) { return structures[static_cast<std::size_t>(rank)]; });
}

Holdings gather_holdings(comm::Group& group, const Description& own) {
  const Hash128 hash = hash128(own.structure);
  const std::vector<Index> structure_of = number(gather_texts(group, hash.hex()));
  std::string packed(own.cuts.size() * sizeof(Holdings::Cut), ' ');
  std::memcpy(packed.data(), own.cuts.data(), packed.size());
  std::vector<std::vector<Holdings::Cut>> cuts;
  for (const std::string& text : gather_texts(group, packed)) {
    std::vector<Holdings::Cut> unpacked(text.size() / sizeof(Holdings::Cut));
    std::memcpy(unpacked.data(), text.data(), text.size());
    cuts.push_back(std::move(unpacked));
  }
  return assemble(structure_of, std::move(cuts),
                  [&](Index rank) { return broadcast_text(group, own.structure, rank); });
}

}  // namespace mpitron::checkpoint
