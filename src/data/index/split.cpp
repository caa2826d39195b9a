#include "data/index/split.h"

#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "utils/error.h"

// --split "969,30,1": weights of training, validation and test, as ranges of the sequences from 0
// to 1.

namespace mpitron::data {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw_usage(
      "--split \"{}\": expected up to three numbers (training, validation, test) with a positive "
      "sum, for example \"969, 30, 1\"",
      text);
}

/// Returns every maximal run of digits and points, as the reference finds them; all other
/// characters separate.
std::vector<double> numbers(const std::string& text) {
  constexpr const char* kDigits = ".0123456789";
  std::vector<double> values;
  std::string_view rest = text;
  for (std::size_t start; (start = rest.find_first_of(kDigits)) != std::string_view::npos;) {
    rest.remove_prefix(start);
    const std::size_t length = std::min(rest.find_first_not_of(kDigits), rest.size());
    double value = 0.0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + length, value);
    if (error != std::errc{} || end != rest.data() + length) {
      refuse(text);
    }
    values.push_back(value);
    rest.remove_prefix(length);
  }
  return values;
}

}  // namespace

const char* to_string(Split split) {
  static constexpr const char* kNames[] = {"train", "valid", "test"};
  return kNames[static_cast<std::size_t>(split)];
}

SplitMatrix parse_split(const std::string& text) {
  std::vector<double> parts = numbers(text);
  if (parts.empty() || parts.size() > kSplits.size()) {
    refuse(text);
  }
  parts.resize(kSplits.size(), 0.0);
  const double total = parts[0] + parts[1] + parts[2];
  if (!(total > 0.0) || !std::isfinite(total)) {
    refuse(text);
  }
  SplitMatrix matrix;
  double begin = 0.0;
  for (const Split split : kSplits) {
    const double share = parts[static_cast<std::size_t>(split)] / total;
    if (share > 0.0) {
      matrix[split] = Fractions{begin, begin + share};
    }
    begin += share;
  }
  return matrix;
}

std::pair<Index, Index> split_bounds(const Fractions& fractions, Index count) {
  const auto n = static_cast<double>(count);
  // Rounding half to even is the default of the floating-point environment.
  return {static_cast<Index>(std::nearbyint(fractions.begin * n)),
          static_cast<Index>(std::nearbyint(fractions.end * n))};
}

}  // namespace mpitron::data
