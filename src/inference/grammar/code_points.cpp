#include "inference/grammar/code_points.h"

#include <algorithm>

#include "utils/text/utf8.h"

// Sets of characters, and their UTF-8 as a pattern: ranges are cut where the number of bytes
// changes and then byte by byte, so that each part is a product of byte ranges.

namespace mpitron::inference {
namespace {

constexpr CodePoints::Range kSurrogates = {0xD800, 0xDFFF};

/// Makes the pattern of a range as one byte set after the other, each from the first's byte to the
/// last's: right for ranges that split() leaves whole.
Pattern bytes_between(std::string_view first, std::string_view last) {
  std::vector<Pattern> parts;
  for (std::size_t i = 0; i < first.size(); ++i) {
    parts.push_back(Pattern::of(
        ByteSet(static_cast<unsigned char>(first[i]), static_cast<unsigned char>(last[i]))));
  }
  return Pattern::sequence(std::move(parts));
}

std::string utf8_of(std::uint32_t code_point) {
  std::string text;
  append_utf8(code_point, text);
  return text;
}

/// Cuts a range where its UTF-8 becomes longer, and where a continuation byte would not take all
/// its values.
void split(std::uint32_t first, std::uint32_t last, std::vector<Pattern>& parts) {
  for (const std::uint32_t end : {0x7Fu, 0x7FFu, 0xFFFFu}) {
    if (first <= end && end < last) {
      split(first, end, parts);
      split(end + 1, last, parts);
      return;
    }
  }
  for (const std::uint32_t low : {0x3Fu, 0xFFFu, 0x3FFFFu}) {  // bits of 1, 2, 3 continuations
    if (last > 0x7F && (first & ~low) != (last & ~low)) {
      if ((first & low) != 0) {
        split(first, first | low, parts);
        split((first | low) + 1, last, parts);
        return;
      }
      if ((last & low) != low) {
        split(first, (last & ~low) - 1, parts);
        split(last & ~low, last, parts);
        return;
      }
    }
  }
  parts.push_back(bytes_between(utf8_of(first), utf8_of(last)));
}

}  // namespace

void CodePoints::add(std::uint32_t first, std::uint32_t last) {
  ranges_.emplace_back(first, last);
  std::ranges::sort(ranges_);
  std::vector<Range> joined;
  for (const Range& range : ranges_) {
    if (!joined.empty() && range.first <= joined.back().second + 1) {
      joined.back().second = std::max(joined.back().second, range.second);
    } else {
      joined.push_back(range);
    }
  }
  ranges_ = std::move(joined);
}

void CodePoints::add(const CodePoints& other) {
  for (const auto& [first, last] : other.ranges_) {
    add(first, last);
  }
}

CodePoints CodePoints::complement() const {
  CodePoints taken = *this;
  taken.add(kSurrogates.first, kSurrogates.second);
  CodePoints result;
  std::uint32_t next = 0;
  for (const auto& [first, last] : taken.ranges_) {
    if (first > next) {
      result.ranges_.emplace_back(next, first - 1);
    }
    next = last + 1;
  }
  if (next <= kLast) {
    result.ranges_.emplace_back(next, kLast);
  }
  return result;
}

CodePoints CodePoints::common(const CodePoints& other) const {
  CodePoints neither = complement();
  neither.add(other.complement());
  return neither.complement();
}

Pattern CodePoints::utf8() const {
  std::vector<Pattern> parts;
  for (const auto& [first, last] : complement().complement().ranges_) {  // without surrogates
    split(first, last, parts);
  }
  return Pattern::choice(std::move(parts));
}

}  // namespace mpitron::inference
