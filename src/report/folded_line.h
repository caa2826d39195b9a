#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace mpitron::report {

/// Returns the width in columns: bytes that begin a character of UTF-8.
inline int width_of(const std::string& text) {
  return static_cast<int>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

/// Collects parts that are known, and joins them with dots between.
class FoldedLine {
 public:
  void add(const std::string& part) { parts_.push_back(part); }
  /// Adds a part only where the value is known.
  void add(fmt::format_string<double&> text, double value) {
    if (std::isfinite(value)) {
      add(fmt::format(text, value));
    }
  }
  /// Returns the line, which goes on below where a terminal is narrow.
  std::vector<std::string> lines(int columns) const {
    std::vector<std::string> folded;
    for (const std::string& part : parts_) {
      const bool fits = !folded.empty() && width_of(folded.back() + kBetween + part) <= columns;
      if (fits) {
        folded.back() += kBetween + part;
      } else {
        folded.push_back(part);
      }
    }
    return folded;
  }

 private:
  static constexpr const char* kBetween = " · ";
  std::vector<std::string> parts_;
};

}  // namespace mpitron::report
