#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::config {

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
int edit_distance(std::string_view a, std::string_view b);

/// The words that `word` was probably meant to be, at most three, nearest first: those that differ
/// in a quarter of its letters, or in two (in one, where it has less than five), and those that
/// continue it (`--num-lay`).
std::vector<std::string_view> nearest_words(std::string_view word,
                                            std::span<const std::string_view> words);

/// "; did you mean A or B?" with these words; empty without any.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);

}  // namespace mpitron::config
