#pragma once
#include <cmath>
#include <cstdint>

#include "utils/numbers/philox.h"
#include "utils/numbers/shape.h"

namespace mpitron::images {

/// The random numbers of one view of one sample: a pure function of seed, epoch, sample and view,
/// so that neither ranks nor threads, read-ahead or restarts change a pixel. Every use has a number
/// of its own, whether or not others draw.
class Draws {
 public:
  struct Place {
    std::uint64_t seed = 0;
    Index sample = 0;  // in the list of the folder
    Index epoch = 0;
    Index view = 0;  // of the sample
  };
  explicit Draws(const Place& place)
      : key_{static_cast<std::uint32_t>(place.seed),
             static_cast<std::uint32_t>(place.seed >> 32) ^ kTag},
        view_(static_cast<std::uint32_t>(place.view)),
        sample_(static_cast<std::uint32_t>(place.sample)),
        epoch_(static_cast<std::uint32_t>(place.epoch)) {}

  /// Returns a number in [0, 1) of 24 bits.
  double uniform(std::uint32_t number) const {
    return static_cast<double>(Philox::generate({number, view_, sample_, epoch_}, key_)[0] >> 8) *
           0x1p-24;
  }
  double between(std::uint32_t number, double low, double high) const {
    return low + (high - low) * uniform(number);
  }
  /// Returns one of 0 ... count - 1.
  Index below(std::uint32_t number, Index count) const {
    return static_cast<Index>(uniform(number) * static_cast<double>(count));
  }
  bool happens(std::uint32_t number, double probability) const {
    return uniform(number) < probability;
  }

 private:
  static constexpr std::uint32_t kTag = 0x56495331;  // "VIS1"
  Philox::Key key_;
  std::uint32_t view_, sample_, epoch_;
};

/// Numbers that belong to the uses of randomness; the first of each.
struct DrawNumber {
  static constexpr std::uint32_t crop = 0;  // four for each trial
  static constexpr std::uint32_t flip = 40;
  static constexpr std::uint32_t jitter = 41;  // order, factors
  static constexpr std::uint32_t jitter_happens = 48;
  static constexpr std::uint32_t grey_happens = 49;
  static constexpr std::uint32_t policy = 50;  // which, then probability and sign of each step
  static constexpr std::uint32_t blur = 60;    // whether, radius
  static constexpr std::uint32_t solarise = 62;
  static constexpr std::uint32_t mask = 64;  // of inpainting, one for each step
};

}  // namespace mpitron::images
