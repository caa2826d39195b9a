#include "data/index/blend_picker.h"

#include <cstring>
#include <limits>

// The greedy choice of a blend, once a sample: for many members with vectors, whose lanes keep the
// reference's choice among equals.

namespace mpitron::data {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

constexpr std::size_t kWidth = 8;
using Vector = double __attribute__((vector_size(kWidth * sizeof(double))));
constexpr Vector kCount = {0, 1, 2, 3, 4, 5, 6, 7};

Vector load(const double* values) {
  Vector vector;
  std::memcpy(&vector, values, sizeof(vector));
  return vector;
}

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

/// Finds the largest weight * scale - taken; of equals the first.
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

// Each lane of two vectors keeps the first largest of its members; of equals the smaller number
// wins in the end. Numbers are doubles so that they move with the values.
std::size_t BlendPicker::best_of_many(double scale) const {
  Vector largest[2] = {Vector{} + kNever, Vector{} + kNever};
  Vector member[2] = {};
  for (std::size_t base = 0; base < weights_.size(); base += kLanes) {
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t first = base + half * kWidth;
      const Vector lag = load(&weights_[first]) * scale - load(&taken_[first]);
      const auto better = lag > largest[half];
      largest[half] = better ? lag : largest[half];
      member[half] = better ? kCount + static_cast<double>(first) : member[half];
    }
  }
  const auto other =
      (largest[1] > largest[0]) | ((largest[1] == largest[0]) & (member[1] < member[0]));
  Vector values = other ? largest[1] : largest[0];
  Vector numbers = other ? member[1] : member[0];
  for (std::size_t half = kWidth / 2; half > 0; half /= 2) {  // lanes in pairs: none waits for long
    for (std::size_t lane = 0; lane < half; ++lane) {
      const double value = values[lane + half], number = numbers[lane + half];
      const bool wins =
          (value > values[lane]) | ((value == values[lane]) & (number < numbers[lane]));
      values[lane] = wins ? value : values[lane];
      numbers[lane] = wins ? number : numbers[lane];
    }
  }
  return static_cast<std::size_t>(numbers[0]);
}

}  // namespace mpitron::data
