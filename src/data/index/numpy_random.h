#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace mpitron::data {

/// numpy.random.RandomState(seed): std::mt19937 and numpy's ways to draw from it, exactly.
class RandomState {
 public:
  explicit RandomState(std::uint32_t seed) : engine_(seed) {}

  /// Returns a number uniform in [0, max]: masked rejection, 64-bit draws (high half first) above
  /// 2^32 - 1.
  std::uint64_t interval(std::uint64_t max);
  /// Returns a number uniform in [0, 1), 53 bits.
  double random();
  /// Returns a number uniform in [low, high); no draw when only one value is possible.
  std::int64_t randint(std::int64_t low, std::int64_t high);
  /// Returns true with this probability, as binomial(1, probability).
  bool bernoulli(double probability);
  /// Returns an index drawn with `probabilities`, as choice(n, p=probabilities).
  std::int64_t choice(std::span<const double> probabilities);
  /// Returns the trials up to and including the first success.
  std::int64_t geometric(double p);
  /// Shuffles by Fisher and Yates from the end on, as shuffle of a one-dimensional array.
  template <class T>
  void shuffle(std::span<T> values);

 private:
  std::uint32_t bits32() { return static_cast<std::uint32_t>(engine_()); }

  std::mt19937 engine_;
};

// The draws depend on positions only, never on values: so they run ahead of the swaps, and the
// elements they name are in cache when their turn comes (the array of a large corpus is not).
template <class T>
void RandomState::shuffle(std::span<T> values) {
  constexpr std::size_t kAhead = 64;
  std::array<std::size_t, kAhead> partner;
  for (std::size_t i = values.size(); i > 1;) {
    const std::size_t count = std::min(kAhead, i - 1);
    for (std::size_t k = 0; k < count; ++k) {
      partner[k] = interval(i - 1 - k);
      __builtin_prefetch(&values[partner[k]], 1);
    }
    for (std::size_t k = 0; k < count; ++k) {
      std::swap(values[i - 1 - k], values[partner[k]]);
    }
    i -= count;
  }
}

/// numpy.random.default_rng(seed): PCG64 (O'Neill, XSL-RR 128/64) seeded by SeedSequence.
class Pcg64 {
 public:
  explicit Pcg64(std::uint32_t seed);

  std::uint64_t bits64();
  /// Returns the low half of a 64-bit draw, then its high half.
  std::uint32_t bits32();
  /// Returns `integers(low, high)` with a range below 2^32 (Lemire's bounded draw).
  std::int64_t integer(std::int64_t low, std::int64_t high);

 private:
  __extension__ using Wide = unsigned __int128;

  Wide state_ = 0;
  Wide increment_ = 0;
  std::uint32_t pending_ = 0;
  bool has_pending_ = false;
};

}  // namespace mpitron::data
