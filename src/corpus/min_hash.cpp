#include "corpus/min_hash.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "utils/check.h"
#include "utils/error.h"
#include "utils/text/hash.h"

namespace mpitron::corpus {
namespace {

constexpr std::uint64_t kEmpty = std::numeric_limits<std::uint64_t>::max();
constexpr int kMostWidth = 32;

// The finaliser of splitmix64 (Steele, Lea & Flood 2014).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

std::uint64_t hash_of(std::string_view shingle) {
  if (shingle.size() > sizeof(std::uint64_t) - 1) {
    return hash64(shingle);
  }
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, shingle.data(), shingle.size());
  return mix(bytes | static_cast<std::uint64_t>(shingle.size()) << 56);
}

}  // namespace

void hash_shingles(std::string_view text, int width, std::vector<std::uint64_t>& hashes) {
  MPITRON_CHECK(width >= 1 && width <= kMostWidth, width);
  hashes.clear();
  std::array<std::size_t, kMostWidth> starts{};  // of the last `width` characters, in a ring
  std::size_t characters = 0;
  const auto ring = [&](std::size_t character) -> std::size_t& {
    return starts[character % static_cast<std::size_t>(width)];
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
      continue;
    }
    if (characters >= static_cast<std::size_t>(width)) {
      const std::size_t begin = ring(characters);
      hashes.push_back(hash_of(text.substr(begin, at - begin)));
    }
    ring(characters++) = at;
  }
  const std::size_t begin = characters < static_cast<std::size_t>(width) ? 0 : ring(characters);
  hashes.push_back(hash_of(text.substr(begin)));
}

double jaccard(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  std::size_t common = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    common += a[i] == b[j];
    const bool step_a = a[i] <= b[j];
    const bool step_b = b[j] <= a[i];
    i += step_a;
    j += step_b;
  }
  const std::size_t all = a.size() + b.size() - common;
  return all == 0 ? 1.0 : static_cast<double>(common) / static_cast<double>(all);
}

MinHash::MinHash(Index rows, Index bands, std::uint64_t seed)
    : bands_(bands),
      seed_(mix(seed + 1)),
      minima_(static_cast<std::size_t>(std::max<Index>(rows, 0))) {
  if (bands < 1 || rows < bands || rows % bands != 0) {
    throw_usage("--num-seeds {} with --num-bands {}: the seeds must be a multiple of the bands",
                rows, bands);
  }
}

void MinHash::band_keys(std::span<const std::uint64_t> shingles, std::span<std::uint64_t> keys) {
  const std::size_t rows = minima_.size();
  std::ranges::fill(minima_, kEmpty);
  for (const std::uint64_t shingle : shingles) {
    const std::uint64_t hash = mix(shingle ^ seed_);
    // The high 32 bits choose the row without a division, all of it is the value.
    std::uint64_t& minimum = minima_[(hash >> 32) * rows >> 32];
    minimum = std::min(minimum, hash);
  }
  // An empty row takes the value of the next one that is not (in a ring), with their distance: so
  // two texts agree in it where they agree there.
  const auto filled = std::ranges::find_if(minima_, [](std::uint64_t m) { return m != kEmpty; });
  if (filled != minima_.end()) {
    std::uint64_t value = *filled;
    std::uint64_t distance = static_cast<std::uint64_t>(filled - minima_.begin());
    for (std::size_t i = rows; i-- > 0;) {
      ++distance;
      if (minima_[i] != kEmpty) {
        value = minima_[i];
        distance = 0;
      } else {
        minima_[i] = mix(value + distance);
      }
    }
  }
  const std::size_t width = rows / static_cast<std::size_t>(bands_);
  for (std::size_t band = 0; band < static_cast<std::size_t>(bands_); ++band) {
    keys[band] = hash64(
        {reinterpret_cast<const char*>(&minima_[band * width]), width * sizeof(std::uint64_t)},
        band);
  }
}

}  // namespace mpitron::corpus
