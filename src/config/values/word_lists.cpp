#include <algorithm>

#include "config/values/list_expression.h"
#include "utils/error.h"

// Lists as finetuning writes them: words between commas, ranges of layers, numbers of names.

namespace mpitron::config {

/// Drops empty words between commas.
std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (end > 0) {
      words.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// Reads "3" or "2-5", both included.
std::optional<std::pair<Index, Index>> layer_range(std::string_view text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  const auto first = number<Index>(text.substr(0, dash));
  const auto last = dash < text.size() ? number<Index>(text.substr(dash + 1)) : first;
  return first && last ? std::optional(std::pair(*first, *last)) : std::nullopt;
}

/// Reads "q_proj=8,v_proj=4"; nothing where an entry is malformed.
std::optional<NumberPattern> number_pattern(std::string_view text) {
  NumberPattern pattern;
  for (const std::string& word : comma_list(text)) {
    const std::size_t sign = word.find('=');
    const auto value =
        sign == word.npos ? std::nullopt : number<double>(std::string_view(word).substr(sign + 1));
    if (!value || sign == 0) {
      return std::nullopt;
    }
    pattern[word.substr(0, sign)] = *value;
  }
  return pattern;
}

}  // namespace mpitron::config
