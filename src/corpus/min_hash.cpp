#include "corpus/min_hash.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

#include "utils/check.h"
#include "utils/error.h"
#include "utils/text/hash.h"
#include "utils/text/utf8.h"

// MinHash (Broder 1997) by one permutation: each row of a signature is the smallest hash of the
// shingles that fall into it; the same row of two texts is equal with a probability that is their
// Jaccard similarity.

namespace mpitron::corpus {

namespace {

constexpr std::uint64_t kEmpty = std::numeric_limits<std::uint64_t>::max();
constexpr int kMostWidth = 32;

/// The finaliser of splitmix64 (Steele, Lea & Flood 2014): every bit of the result depends on every
/// bit of x.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// Hashes a shingle; a short one is its own bytes, mixed, which needs no loop.
std::uint64_t hash_of(std::string_view shingle) {
  if (shingle.size() > sizeof(std::uint64_t) - 1) {
    return hash64(shingle);
  }
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, shingle.data(), shingle.size());
  return mix(bytes | static_cast<std::uint64_t>(shingle.size()) << 56);
}

}  // namespace

/// Passes once over the text: a ring remembers where the last `width` characters began.
void hash_shingles(std::string_view text, int width, std::vector<std::uint64_t>& hashes) {
  MPITRON_CHECK(width >= 1 && width <= kMostWidth, width);
  hashes.clear();
  std::array<std::size_t, kMostWidth> starts{};  // of the last `width` characters, in a ring
  std::size_t characters = 0;
  const auto ring = [&](std::size_t character) -> std::size_t& {
    return starts[character % static_cast<std::size_t>(width)];
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (continues_character(text[at])) {
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

/// Merges both, which are sorted, and counts what they share.
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

/// Keeps the least hash of each row; a band's key is a hash of its rows.
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

DuplicateGroups::DuplicateGroups(Index documents) : parent_(static_cast<std::size_t>(documents)) {
  std::iota(parent_.begin(), parent_.end(), Index{0});
}

/// Follows the parents, with path halving: trees stay flat without ranks.
Index DuplicateGroups::first(Index document) {
  auto at = static_cast<std::size_t>(document);
  while (parent_[at] != static_cast<Index>(at)) {
    parent_[at] = parent_[static_cast<std::size_t>(parent_[at])];
    at = static_cast<std::size_t>(parent_[at]);
  }
  return static_cast<Index>(at);
}

void DuplicateGroups::join(Index a, Index b) {
  const Index root_a = first(a);
  const Index root_b = first(b);
  parent_[static_cast<std::size_t>(std::max(root_a, root_b))] = std::min(root_a, root_b);
}

/// Collects the groups with more than one member.
std::vector<std::vector<Index>> DuplicateGroups::groups() {
  std::map<Index, std::vector<Index>> members;
  for (Index document = 0; document < std::ssize(parent_); ++document) {
    if (const Index root = first(document); root != document) {
      members.try_emplace(root, 1, root).first->second.push_back(document);
    }
  }
  std::vector<std::vector<Index>> groups;
  for (auto& [root, group] : members) {
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace mpitron::corpus
