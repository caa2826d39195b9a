#include "data/blend_picker.h"

#include <limits>

namespace mpitron::data {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

}  // namespace

BlendPicker::BlendPicker(std::span<const double> weights)
    : members_(weights.size()), weights_(weights.begin(), weights.end()), taken_(weights.size()) {
  const std::size_t padded = (members_ + kLanes - 1) / kLanes * kLanes;
  weights_.resize(padded, kNever);
  taken_.resize(padded);
}

void BlendPicker::close(std::size_t member) {
  weights_[member] = kNever;
}

std::size_t BlendPicker::best_of_few(double scale) const {
  std::size_t best = 0;
  double largest = kNever;
  for (std::size_t i = 0; i < members_; ++i) {
    const double lag = weights_[i] * scale - taken_[i];
    if (lag > largest) {
      best = i;
      largest = lag;
    }
  }
  return best;
}

// Each lane keeps the first largest of its members; then the lanes are halved, and of equals the
// smaller number wins. Numbers are doubles so that they move with the values.
std::size_t BlendPicker::best_of_many(double scale) const {
  alignas(64) double largest[kLanes];
  alignas(64) double member[kLanes];
  for (std::size_t l = 0; l < kLanes; ++l) {
    largest[l] = weights_[l] * scale - taken_[l];
    member[l] = static_cast<double>(l);
  }
  for (std::size_t base = kLanes; base < weights_.size(); base += kLanes) {
    const double* weights = &weights_[base];
    const double* taken = &taken_[base];
    const auto first = static_cast<double>(base);
    for (std::size_t l = 0; l < kLanes; ++l) {
      const double lag = weights[l] * scale - taken[l];
      const bool better = lag > largest[l];
      largest[l] = better ? lag : largest[l];
      member[l] = better ? first + static_cast<double>(l) : member[l];
    }
  }
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) {
      const bool other = largest[l + half] > largest[l] ||
                         (largest[l + half] == largest[l] && member[l + half] < member[l]);
      largest[l] = other ? largest[l + half] : largest[l];
      member[l] = other ? member[l + half] : member[l];
    }
  }
  return static_cast<std::size_t>(member[0]);
}

}  // namespace mpitron::data
