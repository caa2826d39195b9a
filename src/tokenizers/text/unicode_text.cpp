#include "tokenizers/text/unicode_text.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include <utf8proc.h>

#include "tokenizers/text/unicode_classes.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// Unicode of texts by utf8proc: normal forms, classes of characters, and a short way for ASCII,
// which most text is.

namespace mpitron::tokenizers {
namespace {

utf8proc_category_t category(std::uint32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
}

}  // namespace

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<signed char>(c) >= 0; });
}

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
