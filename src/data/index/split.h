#pragma once
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Parts of a corpus by their use, in the order of --split.
enum class Split : int { train, valid, test };
inline constexpr std::array<Split, 3> kSplits{Split::train, Split::valid, Split::test};
const char* to_string(Split split);

/// One value per split.
template <class T>
struct PerSplit : std::array<T, 3> {
  T& operator[](Split split) {
    return std::array<T, 3>::operator[](static_cast<std::size_t>(split));
  }
  const T& operator[](Split split) const {
    return std::array<T, 3>::operator[](static_cast<std::size_t>(split));
  }
};

/// A stretch of a corpus, as shares of its sequences.
struct Fractions {
  double begin = 0.0;
  double end = 0.0;
};

/// Share of a corpus per split; nothing for a split with fraction 0.
using SplitMatrix = PerSplit<std::optional<Fractions>>;

/// Reads the value of --split, such as "969, 30, 1": up to three numbers, normalised by their sum.
/// Error(usage) else.
SplitMatrix parse_split(const std::string& text);

/// Returns [begin, end) of `count` sequences: products rounded half to even, as Python's round.
std::pair<Index, Index> split_bounds(const Fractions& fractions, Index count);

}  // namespace mpitron::data
