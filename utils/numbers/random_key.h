#pragma once
#include "utils/numbers/philox.h"
#include "utils/numbers/shape.h"

namespace mpitron {

// Keys of random numbers. A step has one, (seed, iteration); with it, every use of random numbers
// in a model has one of its own, by its place.

/// SplitMix64's finaliser: every input bit reaches every output bit.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

constexpr std::uint64_t step_key(std::uint64_t seed, std::uint64_t iteration) {
  return mix_bits(mix_bits(seed) ^ iteration);
}

constexpr Philox::Key place_key(std::uint64_t step_key, std::uint64_t place) {
  const std::uint64_t key = mix_bits(step_key ^ place);
  return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

/// What random numbers of a microbatch depend on that is another one in each step.
struct StepNumbers {
  std::uint64_t step_key = 0;
  Index first_sample = 0;  // global sample of local b = 0
};

/// Where a graph of the GPU that repeats a step finds these, and whose numbers are drawn: kernels
/// cannot be told, since a graph repeats their arguments. Null where kernels are told.
struct ReplayedNumbers {
  const StepNumbers* step = nullptr;  // memory of the device
  std::uint64_t place = 0;
};

}  // namespace mpitron
