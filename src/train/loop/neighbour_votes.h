#pragma once
#include <array>
#include <span>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::train {

/// How many neighbours are asked.
inline constexpr std::array<Index, 4> kNeighbourCounts{10, 20, 100, 200};

/// An image whose class is known, as a neighbour of another.
struct Neighbour {
  double likeness = 0;  // cosine of the angle between their features
  Index image = 0;
  Index label = 0;
};

/// The first `count` neighbours by likeness, then by the number of the image; in that order.
std::vector<Neighbour> nearest(std::vector<Neighbour> neighbours, Index count);

/// The class for which the first `count` of ordered neighbours vote, each with
/// exp(likeness / 0.07) (Wu et al. 2018); of equal ones the lower.
Index voted_class(std::span<const Neighbour> neighbours, Index count);

}  // namespace mpitron::train
