#include <algorithm>
#include <array>
#include <cstdint>

#include "corpus/cleaner.h"
#include "corpus/misreading.h"
#include "tokenizers/split/split_lexer.h"
#include "utils/text/utf8.h"

// Repairs of a text, each of which takes characters and gives others.

namespace mpitron::corpus {
namespace {

/// Returns the character that an entity means, with its bytes; 0 bytes where it is none.
Utf8Char read_entity(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::uint32_t>, 12> kNames = {
      {{"&amp;", '&'},
       {"&lt;", '<'},
       {"&gt;", '>'},
       {"&quot;", '"'},
       {"&apos;", '\''},
       {"&nbsp;", 0xA0},
       {"&ndash;", 0x2013},
       {"&mdash;", 0x2014},
       {"&lsquo;", '\''},
       {"&rsquo;", '\''},
       {"&ldquo;", '"'},
       {"&rdquo;", '"'}}};
  for (const auto& [name, c] : kNames) {
    if (text.starts_with(name)) {
      return {c, static_cast<int>(name.size())};
    }
  }
  if (!text.starts_with("&#")) {
    return {};
  }
  std::uint32_t c = 0;
  std::size_t at = 2;
  for (; at < text.size() && at < 9 && text[at] >= '0' && text[at] <= '9'; ++at) {
    c = c * 10 + static_cast<std::uint32_t>(text[at] - '0');
  }
  const bool ends = at > 2 && at < text.size() && text[at] == ';';
  const bool character = c >= 0x20 && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
  return ends && character ? Utf8Char{c, static_cast<int>(at) + 1} : Utf8Char{};
}

/// Replaces HTML entities in texts without tags: beside tags they may be meant as they are.
std::string replace_entities(std::string_view text) {
  if (text.find('<') != std::string_view::npos || text.find('&') == std::string_view::npos) {
    return std::string(text);
  }
  std::string fixed;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char meant = text[at] == '&' ? read_entity(text.substr(at)) : Utf8Char{};
    if (meant.bytes > 0) {
      append_utf8(meant.code_point, fixed);
      at += static_cast<std::size_t>(meant.bytes);
    } else {
      fixed += text[at++];
    }
  }
  return fixed;
}

/// Returns the bytes of a terminal escape (ESC [ ... letter) at the front, 0: none.
std::size_t terminal_escape(std::string_view text) {
  if (!text.starts_with("\x1b[")) {
    return 0;
  }
  std::size_t at = 2;
  while (at < text.size() && ((text[at] >= '0' && text[at] <= '9') || text[at] == ';')) {
    ++at;
  }
  const bool ends =
      at < text.size() && text[at] >= '@' && text[at] <= '~';  // ECMA-48: the last byte
  return ends ? at + 1 : at;
}

bool is_control(std::uint32_t c) {
  return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c <= 0x9F) ||
         (c >= 0x206A && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFC);
}

/// Appends a character; ligatures, full-width letters and typographic quotes in their plain form,
/// controls not at all.
void append_simplified(std::uint32_t c, std::string& text) {
  static constexpr std::array<std::string_view, 7> kLigatures = {"ff",  "fi", "fl", "ffi",
                                                                 "ffl", "st", "st"};
  if (c >= 0xFB00 && c <= 0xFB06) {
    text += kLigatures[c - 0xFB00];
  } else if (c >= 0xFF01 && c <= 0xFF5E) {
    text += static_cast<char>(c - 0xFF01 + '!');
  } else if (c >= 0x2018 && c <= 0x201B) {
    text += '\'';
  } else if (c >= 0x201C && c <= 0x201F) {
    text += '"';
  } else if (c == 0x2028 || c == 0x2029 || c == 0x85) {
    text += '\n';
  } else if (!is_control(c)) {
    append_utf8(c, text);
  }
}

/// Simplifies all characters; printable ASCII is copied without a look.
std::string simplify_characters(std::string_view text) {
  std::string fixed;
  fixed.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char byte = text[at];
    if (static_cast<signed char>(byte) >= 0x20 && byte != 0x7F) {
      fixed += byte;
      ++at;
    } else if (byte == '\r') {
      fixed += '\n';
      at += text.substr(at).starts_with("\r\n") ? 2 : 1;
    } else if (const std::size_t bytes = terminal_escape(text.substr(at)); bytes > 0) {
      at += bytes;
    } else {
      const Utf8Char next = decode_utf8(text.substr(at));
      append_simplified(next.bytes > 0 ? next.code_point : 0xFFFD, fixed);
      at += static_cast<std::size_t>(std::max(next.bytes, 1));
    }
  }
  return fixed;
}

/// Returns whether a text is plain ASCII without entities, and needs no repair.
bool is_clean(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (static_cast<signed char>(c) >= 0x20 && c != 0x7F && c != '&') || c == '\n' || c == '\t';
  });
}

}  // namespace

/// Repairs until nothing changes: one repair can uncover another.
std::string fix_text(std::string_view text) {
  std::string fixed(text);
  while (!is_clean(fixed)) {  // ends: a round that changes something makes the text simpler
    std::string next = simplify_characters(undo_misreading(replace_entities(fixed)));
    if (next == fixed) {
      break;
    }
    fixed = std::move(next);
  }
  return fixed;
}

}  // namespace mpitron::corpus
