#include "tokenizers/text/unicode_classes.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "tokenizers/text/unicode_ranges.h"

// Classes of characters by two tables, made by the compiler of ranges from the Unicode database:
// one for the Basic Multilingual Plane (64 KiB), one for single bytes. Planes above it are
// searched.

namespace mpitron::tokenizers {
namespace {

constexpr std::uint32_t kPlaneSize = 0x10000;

// PropList.txt. PCRE2's \s also has U+180E, which lost the property in Unicode 6.3.
constexpr CodePointRange kBlankRanges[] = {{0x9, 0x9},       {0xB, 0xC},       {0x20, 0x20},
                                           {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
                                           {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                                           {0x205F, 0x205F}, {0x3000, 0x3000}};
constexpr CodePointRange kNewlineRanges[] = {{0xA, 0xA}, {0xD, 0xD}};

struct Class {
  CharSet value;
  std::span<const CodePointRange> ranges;
};

constexpr Class kClasses[] = {
    {kUpper, kUpperRanges},     {kLower, kLowerRanges},   {kCaseless, kCaselessRanges},
    {kMark, kMarkRanges},       {kNumber, kNumberRanges}, {kBlank, kBlankRanges},
    {kNewline, kNewlineRanges},
};

template <std::size_t Size>
constexpr std::array<CharSet, Size> make_classes() {
  std::array<CharSet, Size> classes{};
  for (CharSet& set : classes) {
    set = kOther;
  }
  for (const Class& entry : kClasses) {
    for (const CodePointRange& range : entry.ranges) {
      for (std::uint32_t c = range.first; c <= range.last && c < Size; ++c) {
        classes[c] = entry.value;
      }
    }
  }
  return classes;
}

constexpr std::array<CharSet, 256> make_byte_classes() {
  std::array<CharSet, 256> classes{};
  const auto ascii = make_classes<128>();
  for (std::size_t c = 0; c < ascii.size(); ++c) {
    classes[c] = ascii[c];
  }
  return classes;
}

constexpr std::array<CharSet, kPlaneSize> kBasicPlane = make_classes<kPlaneSize>();

bool contains(std::span<const CodePointRange> ranges, std::uint32_t code_point) {
  const auto above = std::upper_bound(
      ranges.begin(), ranges.end(), code_point,
      [](std::uint32_t c, const CodePointRange& range) { return c < range.first; });
  return above != ranges.begin() && code_point <= std::prev(above)->last;
}

}  // namespace

const std::array<CharSet, 256> kByteClasses = make_byte_classes();

CharSet char_class(std::uint32_t code_point) {
  if (code_point < kPlaneSize) {
    return kBasicPlane[code_point];
  }
  for (const Class& entry : kClasses) {
    if (contains(entry.ranges, code_point)) {
      return entry.value;
    }
  }
  return kOther;
}

}  // namespace mpitron::tokenizers
