#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::corpus {

/// Hashes all runs of `width` characters of `text` (UTF-8), in any order, with repetitions. A
/// shorter text is one shingle.
void hash_shingles(std::string_view text, int width, std::vector<std::uint64_t>& hashes);

/// Returns |A and B| / |A or B| of two sets, both sorted and without repetitions; 1 for two empty
/// ones.
double jaccard(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

/// MinHash signatures by one permutation with densification (Li, Owen & Zhang 2012; Shrivastava &
/// Li 2014): two texts agree in a row with the probability of their Jaccard similarity, for one
/// hash per shingle instead of one per row. Bands of rows are hashed together (LSH): texts that
/// agree in a band are candidates.
class MinHash {
 public:
  /// Error(usage) unless `rows` is a multiple of `bands`.
  MinHash(Index rows, Index bands, std::uint64_t seed);

  Index bands() const { return bands_; }
  /// Writes the [bands] keys of the text with these shingles; equal keys make candidates.
  void band_keys(std::span<const std::uint64_t> shingles, std::span<std::uint64_t> keys);

 private:
  Index bands_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> minima_;  // [rows]
};

/// Groups of documents that are duplicates of each other (union-find with path halving). The first
/// document of a group stands for it.
class DuplicateGroups {
 public:
  explicit DuplicateGroups(Index documents);

  void join(Index a, Index b);
  /// Returns the first document of the group that `document` is in.
  Index first(Index document);
  /// Returns the groups of two and more, each in order, by their first documents.
  std::vector<std::vector<Index>> groups();

 private:
  std::vector<Index> parent_;
};

}  // namespace mpitron::corpus
