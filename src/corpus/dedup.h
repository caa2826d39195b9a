#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::corpus {

/// Options of `mpitron dedup`, named after the OpenWebText scripts' where they have a name there.
struct DedupOptions {
  std::vector<std::string> inputs;  // files that can be read twice: no pipes, nothing compressed
  std::string output;
  std::string groups;  // optional file: a JSON line for each group of duplicates
  std::string text_key = "text";
  Index seeds = 100;  // rows of a signature
  Index bands = 10;
  Index shingle = 5;       // characters
  double threshold = 0.9;  // Jaccard similarity of duplicates
  std::uint64_t seed = 1234;
  int workers = 1;
  std::function<bool()> stop;
};

struct DedupReport {
  Index documents = 0;
  Index removed = 0;
  Index groups = 0;      // of two and more
  Index candidates = 0;  // pairs that were compared
  Index bytes = 0;       // read in the first pass
  double seconds = 0;
};

/// Leaves out all but the first document of each group of near-duplicates. Candidates agree in a
/// band of MinHash rows; the exact Jaccard similarity of their shingles decides; what is similar,
/// also by way of others, is a group. Documents that stay are written as they were read, in their
/// order; the result does not depend on the number of workers. Memory: 8 * bands + 24 bytes for
/// each document, 16 more while a band is sorted, and for each worker 8 bytes for each character
/// of up to 65 documents that share a band and are not alike. Error(data) names file, line and
/// byte.
DedupReport dedup(const DedupOptions& options);

}  // namespace mpitron::corpus
