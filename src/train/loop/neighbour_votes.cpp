#include "train/loop/neighbour_votes.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace mpitron::train {

std::vector<Neighbour> nearest(std::vector<Neighbour> neighbours, Index count) {
  const auto before = [](const Neighbour& a, const Neighbour& b) {
    return a.likeness != b.likeness ? a.likeness > b.likeness : a.image < b.image;
  };
  const auto kept = std::min(static_cast<std::size_t>(count), neighbours.size());
  std::partial_sort(neighbours.begin(), neighbours.begin() + static_cast<Index>(kept),
                    neighbours.end(), before);
  neighbours.resize(kept);
  return neighbours;
}

Index voted_class(std::span<const Neighbour> neighbours, Index count) {
  constexpr double kTemperature = 0.07;
  std::map<Index, double> votes;
  for (const Neighbour& neighbour :
       neighbours.first(std::min(static_cast<std::size_t>(count), neighbours.size()))) {
    votes[neighbour.label] += std::exp(neighbour.likeness / kTemperature);
  }
  const auto most =
      std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  return most == votes.end() ? -1 : most->first;
}

}  // namespace mpitron::train
