#pragma once
#include <string>
#include <vector>

#include "tokenizers/split/word_counts.h"

namespace mpitron::data {

/// Counts the words of `.txt` files and of `key` in JSONL files on `workers` threads; the result
/// does not depend on their number. Error(data) names file and line.
tokenizers::WordCounts count_words(const std::vector<std::string>& files, const std::string& key,
                                   int workers);

}  // namespace mpitron::data
