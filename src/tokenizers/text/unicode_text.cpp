#include "tokenizers/text/unicode_text.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include <utf8proc.h>

#include "tokenizers/text/unicode_classes.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// Unicode of texts by utf8proc, with what it lacks: properties for the final sigma, case of single
// characters as Python has it, and a short way for ASCII, which most text is.

namespace mpitron::tokenizers {

namespace {

constexpr std::uint32_t kCapitalSigma = 0x3A3;
constexpr std::uint32_t kFinalSigma = 0x3C2;
constexpr std::uint32_t kCapitalDottedI = 0x130;
constexpr std::uint32_t kSharpS = 0xDF;

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<signed char>(c) >= 0; });
}

utf8proc_category_t category(std::uint32_t code_point) {
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
  const utf8proc_category_t kind = category(c);
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
  const utf8proc_category_t kind = category(c);
  return kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_ME ||
         kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_LM ||
         kind == UTF8PROC_CATEGORY_SK ||
         std::binary_search(std::begin(kMiddle), std::end(kMiddle), c);
}

/// Error(data) names the first byte that is not UTF-8.
std::u32string decode(std::string_view text) {
  std::u32string characters;
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Char next = decode_utf8(rest);
    if (next.bytes == 0) {
      throw_data("text is not valid UTF-8 at byte {} (0x{:02X})", text.size() - rest.size(),
                 static_cast<unsigned>(static_cast<unsigned char>(rest.front())));
    }
    characters += static_cast<char32_t>(next.code_point);
    rest.remove_prefix(static_cast<std::size_t>(next.bytes));
  }
  return characters;
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

std::string normalize(std::string_view text, NormalForm form) {
  if (is_ascii(text)) {
    return std::string(text);
  }
  int options = UTF8PROC_STABLE;
  options |=
      form == NormalForm::nfc || form == NormalForm::nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  options |= form == NormalForm::nfkc || form == NormalForm::nfkd ? UTF8PROC_COMPAT : 0;
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                             static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, std::free);
  if (size < 0) {
    throw_data("text is not valid UTF-8: {}", utf8proc_errmsg(size));
  }
  return {reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size)};
}

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

bool is_letter(std::uint32_t code_point) {
  const utf8proc_category_t kind = category(code_point);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

std::string strip_nonspacing_marks(std::string_view text) {
  if (is_ascii(text)) {
    return std::string(text);
  }
  std::string stripped;
  for (const char32_t c : decode(text)) {
    if (category(c) != UTF8PROC_CATEGORY_MN) {
      append_utf8(c, stripped);
    }
  }
  return stripped;
}

/// Breaks depend on more than two characters (flags, emoji), which utf8proc keeps in `state`.
void for_graphemes(std::string_view text, const std::function<void(std::string_view)>& handle) {
  utf8proc_int32_t state = 0;
  utf8proc_int32_t previous = -1;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char next = decode_utf8(text.substr(at));
    const auto c = static_cast<utf8proc_int32_t>(next.code_point);
    if (previous >= 0 && utf8proc_grapheme_break_stateful(previous, c, &state)) {
      handle(text.substr(start, at - start));
      start = at;
    }
    previous = c;
    at += static_cast<std::size_t>(next.bytes == 0 ? 1 : next.bytes);
  }
  if (start < text.size()) {
    handle(text.substr(start));
  }
}

bool is_mark(std::uint32_t c) {
  return category(c) >= UTF8PROC_CATEGORY_MN && category(c) <= UTF8PROC_CATEGORY_ME;
}

bool is_number(std::uint32_t c) {
  return category(c) >= UTF8PROC_CATEGORY_ND && category(c) <= UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(std::uint32_t c) {
  return category(c) >= UTF8PROC_CATEGORY_PC && category(c) <= UTF8PROC_CATEGORY_PO;
}

/// Counts all ASCII signs as punctuation, such as $ and +, which Unicode does not (BERT's
/// tokenization.py).
bool is_bert_punctuation(std::uint32_t c) {
  return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
         (c >= 123 && c <= 126) || (c >= 128 && is_punctuation(c));
}

bool is_control_or_format(std::uint32_t c) {
  return category(c) == UTF8PROC_CATEGORY_CC || category(c) == UTF8PROC_CATEGORY_CF;
}

bool is_other(std::uint32_t c) {
  return category(c) >= UTF8PROC_CATEGORY_CC;
}

bool is_white_space(std::uint32_t c) {
  return (char_class(c) & kSpace) != 0;
}

/// Approximates \w of Unicode's regular expressions by categories (letters, marks, Nd and Nl of the
/// numbers, connectors), and the two joiners.
bool is_word(std::uint32_t c) {
  const utf8proc_category_t kind = category(c);
  return (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NL) ||
         kind == UTF8PROC_CATEGORY_PC || c == 0x200C || c == 0x200D;
}

/// The blocks that BERT's tokenization.py sets apart as Chinese characters; no kana, no hangul.
bool is_cjk(std::uint32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// Applies the replacements of transformers' clean_up_tokenization_spaces, in its order.
void clean_up_spaces(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
      {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kRules) {
    replace_all(text, from, to);
  }
}

}  // namespace mpitron::tokenizers
