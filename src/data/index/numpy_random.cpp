#include "data/index/numpy_random.h"

#include <cmath>

#include "data/index/seed_sequence.h"
#include "utils/check.h"

// Numpy's legacy generator, bit by bit: shuffles and choices of Megatron's indices depend on how
// numpy draws from the Mersenne twister, which is not how the standard library does.

namespace mpitron::data {
std::uint64_t RandomState::interval(std::uint64_t max) {
  if (max == 0) {
    return 0;
  }
  const std::uint64_t mask = ~std::uint64_t{0} >> std::countl_zero(max);
  std::uint64_t value;
  do {
    value = bits32();
    if (max > 0xffffffffu) {
      value = value << 32 | bits32();
    }
    value &= mask;
  } while (value > max);
  return value;
}

double RandomState::random() {
  const std::uint32_t high = bits32() >> 5;
  const std::uint32_t low = bits32() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

std::int64_t RandomState::randint(std::int64_t low, std::int64_t high) {
  MPITRON_CHECK(low < high, low, high);
  return low + static_cast<std::int64_t>(interval(static_cast<std::uint64_t>(high - 1 - low)));
}

/// Inverts the smaller probability, as numpy's legacy generator does with one trial.
bool RandomState::bernoulli(double probability) {
  const bool complement = probability > 0.5;
  const double p = complement ? 1 - probability : probability;
  bool success = false;
  for (double draw = random();; draw = random()) {
    const double none = std::exp(std::log(1 - p));
    success = draw > none;
    if (!success ||
        draw - none <= p * none / (1 - p)) {  // else what rounding leaves: it draws again
      return success != complement;
    }
  }
}

/// Searches the sums of the probabilities, divided by the last one as numpy's cdf is.
std::int64_t RandomState::choice(std::span<const double> probabilities) {
  double total = 0.0;
  for (const double p : probabilities) {
    total += p;
  }
  const double draw = random();
  double sum = 0.0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    sum += probabilities[i];
    if (draw < sum / total) {
      return static_cast<std::int64_t>(i);
    }
  }
  return static_cast<std::int64_t>(probabilities.size()) - 1;
}

/// Numpy has two ways, by inversion and by search; which one is taken decides how the draw is used.
std::int64_t RandomState::geometric(double p) {
  if (p < 1.0 / 3.0) {
    return static_cast<std::int64_t>(std::ceil(std::log1p(-random()) / std::log1p(-p)));
  }
  const double draw = random();
  double sum = p;
  double term = p;
  std::int64_t trials = 1;
  while (draw > sum) {
    term *= 1.0 - p;
    sum += term;
    ++trials;
  }
  return trials;
}

Pcg64::Pcg64(std::uint32_t seed) {
  SeedSequence sequence(seed);
  Wide words[4];
  for (std::size_t i = 0; i < 4; ++i) {
    words[i] = sequence.next64(2 * i);
  }
  increment_ = (words[2] << 64 | words[3]) << 1 | 1;
  bits64();
  state_ += words[0] << 64 | words[1];
  bits64();
}

std::uint64_t Pcg64::bits64() {
  constexpr Wide kMultiplier = Wide{2549297995355413924u} << 64 | 4865540595714422341u;
  state_ = state_ * kMultiplier + increment_;
  const auto folded = static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_);
  return std::rotr(folded, static_cast<int>(state_ >> 122));
}

std::uint32_t Pcg64::bits32() {
  if (std::exchange(has_pending_, !has_pending_)) {
    return pending_;
  }
  const std::uint64_t bits = bits64();
  pending_ = static_cast<std::uint32_t>(bits >> 32);
  return static_cast<std::uint32_t>(bits);
}

std::int64_t Pcg64::integer(std::int64_t low, std::int64_t high) {
  MPITRON_CHECK(low < high && high - low <= 0xffffffff, low, high);
  const auto range = static_cast<std::uint32_t>(high - low);
  // Products below it are those of values that would come up once too often.
  const std::uint32_t threshold = (0u - range) % range;
  std::uint64_t product;
  do {
    product = std::uint64_t{bits32()} * range;
  } while (static_cast<std::uint32_t>(product) < threshold);
  return low + static_cast<std::int64_t>(product >> 32);
}

}  // namespace mpitron::data
