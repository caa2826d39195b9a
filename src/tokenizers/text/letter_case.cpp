#include <algorithm>
#include <utility>

#include <utf8proc.h>

#include "tokenizers/text/unicode_text.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// Letters in lower, upper and title case by utf8proc, with what it lacks: properties for the final
// sigma, and case of single characters as Python has it.

namespace mpitron::tokenizers {
namespace {

constexpr std::uint32_t kCapitalSigma = 0x3A3;
constexpr std::uint32_t kFinalSigma = 0x3C2;
constexpr std::uint32_t kCapitalDottedI = 0x130;
constexpr std::uint32_t kSharpS = 0xDF;

utf8proc_category_t letter_category(std::uint32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
}

// Other_Lowercase and Other_Uppercase of Unicode 14, which the library does not hold.
constexpr std::pair<std::uint32_t, std::uint32_t> kOtherCased[] = {
    {0xAA, 0xAA},       {0xBA, 0xBA},       {0x2B0, 0x2B8},     {0x2C0, 0x2C1},
    {0x2E0, 0x2E4},     {0x345, 0x345},     {0x37A, 0x37A},     {0x1D2C, 0x1D6A},
    {0x1D78, 0x1D78},   {0x1D9B, 0x1DBF},   {0x2071, 0x2071},   {0x207F, 0x207F},
    {0x2090, 0x209C},   {0x2160, 0x217F},   {0x24B6, 0x24E9},   {0x2C7C, 0x2C7D},
    {0xA69C, 0xA69D},   {0xA770, 0xA770},   {0xA7F8, 0xA7F9},   {0xAB5C, 0xAB5F},
    {0x10780, 0x10780}, {0x10783, 0x10785}, {0x10787, 0x107B0}, {0x107B2, 0x107BA},
    {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};

/// The property Cased: letters with case and titlecase, and Other_Lowercase and Other_Uppercase.
bool is_cased(std::uint32_t c) {
  const utf8proc_category_t kind = letter_category(c);
  return kind == UTF8PROC_CATEGORY_LU || kind == UTF8PROC_CATEGORY_LL ||
         kind == UTF8PROC_CATEGORY_LT || std::ranges::any_of(kOtherCased, [c](const auto& range) {
           return c >= range.first && c <= range.second;
         });
}

/// The property Case_Ignorable: Word_Break MidLetter, MidNumLet and Single_Quote, and the
/// categories of its definition.
bool is_case_ignorable(std::uint32_t c) {
  constexpr std::uint32_t kMiddle[] = {0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,
                                       0x5F4,  0x2018, 0x2019, 0x2024, 0x2027, 0xFE13,
                                       0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
  const utf8proc_category_t kind = letter_category(c);
  return kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_ME ||
         kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_LM ||
         kind == UTF8PROC_CATEGORY_SK ||
         std::binary_search(std::begin(kMiddle), std::end(kMiddle), c);
}

/// Returns whether the first character from `at` on in direction `step` that is not ignorable is a
/// cased one. Source: Unicode's condition Final_Sigma.
bool cased_beyond(const std::u32string& text, std::ptrdiff_t at, std::ptrdiff_t step) {
  for (at += step; at >= 0 && at < std::ssize(text); at += step) {
    const char32_t c = text[static_cast<std::size_t>(at)];
    if (!is_case_ignorable(c)) {
      return is_cased(c);
    }
  }
  return false;
}

/// Lowers character by character, as Hugging Face's normalizers do. With `final_sigma` a capital
/// sigma that ends a word gets its final form, as in Python's str.lower.
std::string to_lower(std::string_view text, bool final_sigma) {
  std::string lower(text);
  if (is_ascii(text)) {
    for (char& c : lower) {
      c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    }
    return lower;
  }
  lower.clear();
  const std::u32string characters = decode(text);
  for (std::ptrdiff_t i = 0; i < std::ssize(characters); ++i) {
    const std::uint32_t c = characters[static_cast<std::size_t>(i)];
    if (c == kCapitalDottedI) {
      lower += "i\xCC\x87";  // the only character with two in lower case
    } else if (c == kCapitalSigma && final_sigma && cased_beyond(characters, i, -1) &&
               !cased_beyond(characters, i, 1)) {
      append_utf8(kFinalSigma, lower);
    } else {
      append_utf8(static_cast<std::uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))),
                  lower);
    }
  }
  return lower;
}

}  // namespace

std::string lower_case(std::string_view text) {
  return to_lower(text, false);
}

std::string lower_case_with_final_sigma(std::string_view text) {
  return to_lower(text, true);
}

/// Expands the sharp s alone; utf8proc maps other characters one to one.
std::string upper_case(std::string_view text) {
  std::string upper;
  for (const char32_t c : decode(text)) {
    if (c == kSharpS) {
      upper += "SS";
    } else {
      append_utf8(static_cast<std::uint32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))),
                  upper);
    }
  }
  return upper;
}

/// A word begins behind any character that has no case, an apostrophe, too, as in Python.
std::string title_case(std::string_view text) {
  std::string title;
  bool inside = false;
  for (const char32_t c : decode(text)) {
    const auto point = static_cast<utf8proc_int32_t>(c);
    append_utf8(
        static_cast<std::uint32_t>(inside ? utf8proc_tolower(point) : utf8proc_totitle(point)),
        title);
    inside = is_cased(c);
  }
  return title;
}

}  // namespace mpitron::tokenizers
