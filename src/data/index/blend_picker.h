#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Chooses the member of a blend that the next sample comes from: the largest weight * step -
/// taken, the first of equals. The product is rounded before the difference, as in the reference:
/// no fused multiply-add.
class BlendPicker {
 public:
  explicit BlendPicker(std::span<const double> weights);

  /// Returns the member for step i, of which one more is taken now.
  std::size_t pick(Index step) {
    const auto scale = static_cast<double>(step > 1 ? step : 1);
    const std::size_t best = members_ <= kFew ? best_of_few(scale) : best_of_many(scale);
    taken_[best] += 1.0;
    return best;
  }
  Index taken(std::size_t member) const { return static_cast<Index>(taken_[member]); }
  /// Lets the member never be picked again.
  void close(std::size_t member);

 private:
  static constexpr std::size_t kFew = 8;     // a plain loop is faster up to so many
  static constexpr std::size_t kLanes = 16;  // compared at a time

  std::size_t best_of_few(double scale) const;
  std::size_t best_of_many(double scale) const;

  std::size_t members_;
  std::vector<double> weights_;  // padded to whole lanes with members that never win
  std::vector<double> taken_;    // exact: below 2^53
};

}  // namespace mpitron::data
