#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "inference/grammar/pattern.h"

namespace mpitron::inference {

/// A set of characters: code points without surrogates.
class CodePoints {
 public:
  using Range = std::pair<std::uint32_t, std::uint32_t>;  // both included
  static constexpr std::uint32_t kLast = 0x10FFFF;

  CodePoints() = default;
  CodePoints(std::uint32_t first, std::uint32_t last) { add(first, last); }

  void add(std::uint32_t first, std::uint32_t last);
  void add(const CodePoints& other);
  CodePoints complement() const;
  /// Returns the characters that are in both.
  CodePoints common(const CodePoints& other) const;
  bool empty() const { return ranges_.empty(); }
  /// Lists the ranges in order, apart from each other.
  const std::vector<Range>& ranges() const& { return ranges_; }
  std::vector<Range> ranges() && { return std::move(ranges_); }

  /// Returns their UTF-8 as a pattern.
  Pattern utf8() const;
  static CodePoints all() { return CodePoints().complement(); }

 private:
  std::vector<Range> ranges_;
};

}  // namespace mpitron::inference
