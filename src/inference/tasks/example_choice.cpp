// Repeats Python's random.Random(seed).sample: Mersenne Twister (Matsumoto and Nishimura 1998)
// seeded as CPython does, and its choice of the two ways of sampling by the numbers of examples.
#include "inference/tasks/example_choice.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <sstream>
#include <string>

#include "utils/check.h"

namespace mpitron::inference {
namespace {

constexpr std::size_t kWords = 624;

/// Matsumoto's init_by_array of one word, which Python seeds with.
std::mt19937 seeded(std::uint32_t seed) {
  std::vector<std::uint32_t> state(kWords);
  state[0] = 19650218;
  for (std::uint32_t i = 1; i < kWords; ++i) {
    state[i] = 1812433253U * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
  }
  std::size_t i = 1;
  const auto step = [&](std::uint32_t factor, auto&& combine) {
    state[i] = combine(state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * factor));
    if (++i >= kWords) {
      state[0] = state[kWords - 1];
      i = 1;
    }
  };
  for (std::size_t k = 0; k < kWords; ++k) {
    step(1664525U, [&](std::uint32_t word) { return word + seed; });
  }
  for (std::size_t k = 1; k < kWords; ++k) {
    step(1566083941U, [&](std::uint32_t word) { return word - static_cast<std::uint32_t>(i); });
  }
  state[0] = 0x80000000U;
  std::stringstream text;  // how the standard lets a state be given
  for (const std::uint32_t word : state) {
    text << word << ' ';
  }
  text << kWords;
  std::mt19937 engine;
  text >> engine;
  return engine;
}

}  // namespace

ExampleChoice::ExampleChoice(std::uint32_t seed) : engine_(seeded(seed)) {}

std::size_t ExampleChoice::below(std::size_t n) {
  const auto bits = static_cast<unsigned>(std::bit_width(n));
  while (true) {
    const std::size_t value = static_cast<std::uint32_t>(engine_()) >> (32 - bits);
    if (value < n) {
      return value;
    }
  }
}

/// Samples without repetition by CPython's own two ways: from a list of all where that is small,
/// else by a set of the places already taken.
std::vector<std::size_t> ExampleChoice::sample(std::size_t population, std::size_t count) {
  MPITRON_CHECK(count <= population, count, population);
  std::size_t small = 21;  // a list of so many is cheaper than a set
  if (count > 5) {
    std::size_t power = 1;
    while (power < count * 3) {
      power *= 4;
    }
    small += power;
  }
  std::vector<std::size_t> result;
  if (population <= small) {
    std::vector<std::size_t> pool(population);
    std::iota(pool.begin(), pool.end(), std::size_t{0});
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = below(population - i);
      result.push_back(pool[at]);
      pool[at] = pool[population - i - 1];
    }
    return result;
  }
  std::set<std::size_t> drawn;
  while (result.size() < count) {
    const std::size_t at = below(population);
    if (drawn.insert(at).second) {
      result.push_back(at);
    }
  }
  return result;
}

}  // namespace mpitron::inference
