#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::pipeline {

/// Reads the value of --pipeline-model-parallel-layout, such as `Et*3|(tt|)*29,m|L`: one string of
/// the letters E (embedding), t (transformer layer), m (multi-token prediction depth) and L (loss)
/// for each virtual stage, in the order of the data. `|` ends a stage, `x*N` and `(...)*N` repeat,
/// commas mean nothing, an empty stage is legal. Says nothing about what the stages have to hold.
/// Throws Error(usage) with the column of the mistake.
std::vector<std::string> parse_layout_string(std::string_view text);

}  // namespace mpitron::pipeline
