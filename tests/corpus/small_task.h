#pragma once

#include "corpus/ngram_filter.h"

// A task's text, and a document that holds it.

namespace mpitron::corpus {

using Pieces = std::vector<std::string_view>;

inline const std::string kTask =
    "A quick brown fox jumps over one lazy dog while seven wise owls watch from above";
/// The same words in another spelling.
inline const std::string kLeak =
    "a QUICK, brown fox: jumps over one lazy dog while seven wise owls (watch) from above";

}  // namespace mpitron::corpus
