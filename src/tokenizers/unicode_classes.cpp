#include "tokenizers/unicode_classes.h"

#include <algorithm>
#include <iterator>

#include "tokenizers/unicode_ranges.h"

namespace mpitron::tokenizers {
namespace {

constexpr std::uint32_t kPlaneSize = 0x10000;

// PropList.txt. PCRE2's \s also has U+180E, which lost the property in Unicode 6.3.
constexpr CodePointRange kSpaceRanges[] = {
    {0x9, 0xD},       {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
    {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};

template <std::size_t Size>
constexpr void fill(std::array<CharClass, Size>& classes, std::span<const CodePointRange> ranges,
                    CharClass value) {
  for (const CodePointRange& range : ranges) {
    for (std::uint32_t c = range.first; c <= range.last && c < Size; ++c)
      classes[c] = value;
  }
}

template <std::size_t Size>
constexpr std::array<CharClass, Size> make_classes() {
  std::array<CharClass, Size> classes{};
  fill(classes, kLetterRanges, CharClass::letter);
  fill(classes, kNumberRanges, CharClass::number);
  fill(classes, kSpaceRanges, CharClass::space);
  return classes;
}

constexpr std::array<CharClass, kPlaneSize> kBasicPlane = make_classes<kPlaneSize>();

bool contains(std::span<const CodePointRange> ranges, std::uint32_t code_point) {
  const auto above = std::upper_bound(
      ranges.begin(), ranges.end(), code_point,
      [](std::uint32_t c, const CodePointRange& range) { return c < range.first; });
  return above != ranges.begin() && code_point <= std::prev(above)->last;
}

}  // namespace

const std::array<CharClass, 128> kAsciiClasses = make_classes<128>();

CharClass char_class(std::uint32_t code_point) {
  if (code_point < kPlaneSize) {
    return kBasicPlane[code_point];
  }
  if (contains(kLetterRanges, code_point)) {
    return CharClass::letter;
  }
  return contains(kNumberRanges, code_point) ? CharClass::number : CharClass::other;
}

}  // namespace mpitron::tokenizers
