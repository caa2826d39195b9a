#include <algorithm>
#include <cmath>
#include <utility>

#include "config/layer_pattern.h"

// Patterns of hybrids as texts: a letter for each layer, bars and slashes between segments.

namespace mpitron::config {
namespace {

/// Rounds halves to even, as Python does.
Index rounded(double value) {
  return static_cast<Index>(std::nearbyint(value));
}

/// Turns one of every `distance` + 1 Mamba layers into `letter`, the first behind `start` of them.
void spread(std::string& pattern, char letter, double start, double distance) {
  double left = start;
  for (char& place : pattern) {
    if (place != 'M') {
      continue;
    }
    if (left < 0.5) {
      place = letter;
      left += distance;
    } else {
      left -= 1;
    }
  }
}

}  // namespace

Index count_letter(std::string_view pattern, char letter) {
  return static_cast<Index>(std::ranges::count(pattern, letter));
}

/// Splits a pattern: bars end segments, slashes begin depths of prediction.
HybridPattern read_pattern(std::string_view text) {
  HybridPattern pattern;
  const std::size_t slash = text.find('/');
  const std::string_view layers = text.substr(0, slash);
  Index in_segment = 0;
  for (const char letter : layers) {
    if (letter == '|') {
      pattern.segments.push_back(std::exchange(in_segment, 0));
    } else {
      pattern.letters += letter;
      ++in_segment;
    }
  }
  if (!pattern.segments.empty()) {
    pattern.segments.push_back(in_segment);
  }
  for (std::size_t begin = slash; begin != std::string_view::npos;) {
    const std::size_t end = text.find('/', begin + 1);
    pattern.depths.emplace_back(text.substr(begin + 1, end - begin - 1));
    begin = end;
  }
  return pattern;
}

/// Places attention first, since MLPs share what is left. Source: the reference's
/// mamba_hybrid_layer_allocation.py.
std::string pattern_of_ratios(Index layers, double attention_ratio, double mlp_ratio) {
  std::string pattern(static_cast<std::size_t>(std::max<Index>(layers, 0)), 'M');
  const Index attention = rounded(static_cast<double>(layers) * attention_ratio);
  const Index mamba = layers - attention;
  if (attention > 0) {
    const double distance = static_cast<double>(mamba) / static_cast<double>(attention + 1);
    spread(pattern, '*', distance, distance);
  }
  const Index mlps = rounded(static_cast<double>(layers) * mlp_ratio);
  if (mlps > 0) {
    const double distance = static_cast<double>(mamba - mlps) / static_cast<double>(mlps);
    spread(pattern, '-', distance, distance);
  }
  return pattern;
}

}  // namespace mpitron::config
