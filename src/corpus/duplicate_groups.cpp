#include "corpus/duplicate_groups.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace mpitron::corpus {

DuplicateGroups::DuplicateGroups(Index documents) : parent_(static_cast<std::size_t>(documents)) {
  std::iota(parent_.begin(), parent_.end(), Index{0});
}

Index DuplicateGroups::first(Index document) {
  auto at = static_cast<std::size_t>(document);
  while (parent_[at] != static_cast<Index>(at)) {
    parent_[at] = parent_[static_cast<std::size_t>(parent_[at])];
    at = static_cast<std::size_t>(parent_[at]);
  }
  return static_cast<Index>(at);
}

void DuplicateGroups::join(Index a, Index b) {
  const Index root_a = first(a);
  const Index root_b = first(b);
  parent_[static_cast<std::size_t>(std::max(root_a, root_b))] = std::min(root_a, root_b);
}

std::vector<std::vector<Index>> DuplicateGroups::groups() {
  std::map<Index, std::vector<Index>> members;
  for (Index document = 0; document < std::ssize(parent_); ++document) {
    if (const Index root = first(document); root != document) {
      members.try_emplace(root, 1, root).first->second.push_back(document);
    }
  }
  std::vector<std::vector<Index>> groups;
  for (auto& [root, group] : members) {
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace mpitron::corpus
