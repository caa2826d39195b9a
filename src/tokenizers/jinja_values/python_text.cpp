#include "tokenizers/jinja_values/python_text.h"

#include <algorithm>

#include "tokenizers/text/unicode_text.h"
#include "utils/text/utf8.h"

// Functions of Python's str on UTF-8 texts. Positions count characters, found by skipping
// continuation bytes; classes of characters are those of the Unicode tables.

namespace mpitron::tokenizers::jinja {
namespace {

/// Returns whether `strip` removes this character: one of the set, or white space without one.
bool strips(std::string_view character, std::optional<std::string_view> set) {
  return set ? set->find(character) != std::string_view::npos : space_at(character) > 0;
}

/// Cuts at runs of white space; parts come in the order in which they are cut off.
std::vector<std::string_view> split_at_spaces(std::string_view text, std::int64_t most,
                                              bool from_right) {
  std::vector<std::string_view> parts;
  for (text = strip(text); !text.empty();) {
    if (most >= 0 && static_cast<std::int64_t>(parts.size()) >= most) {
      parts.push_back(text);
      break;
    }
    std::size_t end = from_right ? text.size() : 0;
    if (from_right) {
      while (end > 0 && space_at(last_character(text.substr(0, end))) == 0) {
        end -= last_character(text.substr(0, end)).size();
      }
      parts.push_back(text.substr(end));
      text = strip_right(text.substr(0, end));
    } else {
      while (end < text.size() && space_at(text.substr(end)) == 0) {
        end += static_cast<std::size_t>(std::max(1, decode_utf8(text.substr(end)).bytes));
      }
      parts.push_back(text.substr(0, end));
      text = strip_left(text.substr(end));
    }
  }
  return parts;
}

}  // namespace

bool is_space(std::uint32_t c) {
  return is_white_space(c) || (c >= 0x1C && c <= 0x1F);
}

std::size_t space_at(std::string_view text) {
  const Utf8Char c = decode_utf8(text);
  return c.bytes > 0 && is_space(c.code_point) ? static_cast<std::size_t>(c.bytes) : 0;
}

std::size_t word_at(std::string_view text) {
  const Utf8Char c = decode_utf8(text);
  return c.bytes > 0 && is_word(c.code_point) ? static_cast<std::size_t>(c.bytes) : 0;
}

std::string_view strip_left(std::string_view text, std::optional<std::string_view> set) {
  while (!text.empty()) {
    const auto size = static_cast<std::size_t>(std::max(1, decode_utf8(text).bytes));
    if (!strips(text.substr(0, size), set)) {
      break;
    }
    text.remove_prefix(size);
  }
  return text;
}

std::string_view strip_right(std::string_view text, std::optional<std::string_view> set) {
  while (!text.empty() && strips(last_character(text), set)) {
    text.remove_suffix(last_character(text).size());
  }
  return text;
}

std::vector<std::string_view> split(std::string_view text,
                                    std::optional<std::string_view> separator, std::int64_t most,
                                    bool from_right) {
  std::vector<std::string_view> parts;
  if (!separator) {
    parts = split_at_spaces(text, most, from_right);
  } else {
    while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
      const std::size_t at = from_right ? text.rfind(*separator) : text.find(*separator);
      if (at == std::string_view::npos) {
        break;
      }
      const std::size_t behind = at + separator->size();
      parts.push_back(from_right ? text.substr(behind) : text.substr(0, at));
      text = from_right ? text.substr(0, at) : text.substr(behind);
    }
    parts.push_back(text);
  }
  if (from_right) {
    std::ranges::reverse(parts);
  }
  return parts;
}

std::vector<std::string_view> split_lines(std::string_view text, bool keeps_ends) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\r\v\f\x1c\x1d\x1e"), text.size());
    const std::size_t behind =
        std::min(text.size(), end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
    lines.push_back(text.substr(0, keeps_ends ? behind : end));
    text.remove_prefix(behind);
  }
  return lines;
}

/// An empty `from` matches in front of every character and at the end, as in Python.
std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     std::int64_t most) {
  std::string result;
  std::size_t at = 0;
  for (std::int64_t count = 0; most < 0 || count < most; ++count) {
    const std::size_t found = text.find(from, at);
    if (found == std::string_view::npos || (from.empty() && found >= text.size())) {
      if (from.empty() && found == text.size()) {
        result += to;
      }
      break;
    }
    result.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
    if (from.empty()) {  // in front of every character, and at the end
      const auto size = static_cast<std::size_t>(std::max(1, decode_utf8(text.substr(at)).bytes));
      result.append(text.substr(at, size));
      at += size;
    }
  }
  return result.append(text.substr(std::min(at, text.size())));
}

std::int64_t characters(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return !continues_character(c); });
}

/// Positions behind the text give its end.
std::size_t byte_of(std::string_view text, std::int64_t position) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!continues_character(text[at]) && position-- == 0) {
      break;
    }
  }
  return at;
}

std::string capitalized(std::string_view text) {
  const std::size_t first = byte_of(text, 1);
  return title_case(text.substr(0, first)) + lower_case_with_final_sigma(text.substr(first));
}

}  // namespace mpitron::tokenizers::jinja
