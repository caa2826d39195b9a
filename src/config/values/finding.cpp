#include "config/values/finding.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

// Findings as text, and words that a mistyped one was probably meant to be.

namespace mpitron::config {

/// Writes one line, so that logs can be searched.
std::string to_line(const Finding& finding) {
  std::string line = fmt::format("{} {}: {}", finding.id, finding.name, finding.message);
  if (!finding.nearest.empty()) {
    line += fmt::format(" Nearest: {}", finding.nearest);
  }
  return line;
}

/// Writes a heading and a line for each, for terminals.
std::string to_text(const std::vector<Finding>& findings) {
  std::string text = fmt::format("{} problem{} in this configuration:", findings.size(),
                                 findings.size() == 1 ? "" : "s");
  for (const Finding& finding : findings) {
    text += "\n  " + to_line(finding);
  }
  return text + "\n`mpitron explain ID` says more about one of them.";
}

/// Computes the Damerau-Levenshtein distance with swaps of neighbours (optimal string alignment),
/// in three rows of memory.
int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<int> before(width), above(width), row(width);
  for (std::size_t j = 0; j < width; ++j) {
    above[j] = static_cast<int>(j);
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j < width; ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

/// Counts continuations as near, since options may not be abbreviated here.
std::vector<std::string_view> nearest_words(std::string_view word,
                                            std::span<const std::string_view> words) {
  const int letters = static_cast<int>(word.size());
  const int limit = std::max(letters < 5 ? 1 : 2, letters / 4);
  std::vector<std::pair<int, std::string_view>> near;
  for (const std::string_view candidate : words) {
    const bool continues = word.size() >= 4 && candidate != word && candidate.starts_with(word);
    const int distance = continues ? 1 : edit_distance(word, candidate);
    if (distance <= limit) {
      near.emplace_back(distance, candidate);
    }
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, near.size()); ++i) {
    out.push_back(near[i].second);
  }
  return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
  const std::vector<std::string_view> near = nearest_words(word, words);
  return near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "));
}

}  // namespace mpitron::config
