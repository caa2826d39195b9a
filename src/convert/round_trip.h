#pragma once
#include <string>
#include <vector>

#include "convert/model_reader.h"
#include "utils/text/hash.h"

namespace mpitron::convert {

/// Returns a hash of a tensor's first rows.
Hash128 hash_of(const HostTensor& tensor, Index rows);

/// A tensor of the source and what comes back from the output.
struct ComparedTensor {
  std::string name;
  Hash128 before, after;
  bool equal() const { return before == after; }
};

/// All comparisons, in the order of the output.
struct RoundTrip {
  std::vector<ComparedTensor> tensors;
  Index bytes = 0;

  /// Names of tensors that came back different.
  std::vector<std::string> different() const;
};

/// Converts the output back, tensor by tensor, and compares with the source by 128-bit hashes of
/// all values; rows that only pad the vocabulary do not count.
RoundTrip check_round_trip(ModelReader& source, ModelReader& output, const Progress& progress);

}  // namespace mpitron::convert
