#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::config {

/// A mistake in a configuration. `mpitron explain ID` tells more.
struct Finding {
  std::string id;                    // E001 ...
  std::string name;                  // e.g. layers_per_stage
  std::string message;               // the rule, then the values that break it
  std::string nearest;               // what would be legal, as flags; may be empty
  std::vector<std::string> options;  // with dashes
};

/// Returns `E017 layers_per_stage: ... Nearest: ...`.
std::string to_line(const Finding& finding);

/// Returns all findings under one heading with their number.
std::string to_text(const std::vector<Finding>& findings);

/// Ids of what can be wrong with the words themselves; rules between options follow in
/// constraints.h.
namespace ids {
inline constexpr const char* kUnknownOption = "E001";
inline constexpr const char* kBadValue = "E002";
inline constexpr const char* kWordCount = "E003";
inline constexpr const char* kRemoved = "E004";
inline constexpr const char* kNotYet = "E005";
inline constexpr const char* kRefused = "E006";
inline constexpr const char* kFile = "E007";
}  // namespace ids

/// Counts insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
int edit_distance(std::string_view a, std::string_view b);

/// Returns the words that `word` was probably meant to be, at most three, nearest first: those that
/// differ in a quarter of its letters, or in two (in one, where it has less than five), and those
/// that continue it (`--num-lay`).
std::vector<std::string_view> nearest_words(std::string_view word,
                                            std::span<const std::string_view> words);

/// Returns "; did you mean A or B?" with these words; an empty text without any.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);

}  // namespace mpitron::config
