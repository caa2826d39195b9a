#pragma once
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::corpus {

/// Corpora that were joined, and their sums.
struct MergeReport {
  std::vector<std::string> parts;  // prefixes and .h5 files, in their order
  Index documents = 0;
  Index sequences = 0;
  Index tokens = 0;
};

/// Writes all corpora of a folder (`.bin` with `.idx`, `.h5`) one behind the other, in the order of
/// their names, byte for byte as Megatron's merge_datasets does; `output` is a prefix, or one `.h5`
/// file. Memory does not grow with them. Error(data) for a folder without a corpus, a `.bin`
/// without `.idx` or the other way round, a corpus that is there twice, corpora of different types
/// or tokenizers.
MergeReport merge_datasets(const std::string& folder, const std::string& output);

}  // namespace mpitron::corpus
