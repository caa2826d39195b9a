#include "utils/text/utf8.h"

#include <cstddef>

namespace mpitron {

namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

// Bytes of the sequence that starts with `first`, or 0 for a byte that starts none.
int sequence_bytes(unsigned char first) {
  if (first < 0x80) {
    return 1;
  }
  if (first < 0xC2) {
    return 0;
  }
  if (first < 0xE0) {
    return 2;
  }
  if (first < 0xF0) {
    return 3;
  }
  return first < 0xF5 ? 4 : 0;
}

}  // namespace

Utf8Char decode_utf8(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const int bytes = sequence_bytes(first);
  if (bytes <= 1) {
    return {first, bytes};
  }
  if (text.size() < static_cast<std::size_t>(bytes)) {
    return {};
  }
  std::uint32_t code_point = first & (0x7FU >> bytes);
  for (int i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[static_cast<std::size_t>(i)]);
    if (!continues_character(text[static_cast<std::size_t>(i)])) {
      return {};
    }
    code_point = code_point << 6 | (next & 0x3FU);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
  if (code_point < kSmallest[bytes] || code_point > 0x10FFFF || surrogate) {
    return {};
  }
  return {code_point, bytes};
}

std::string_view last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && continues_character(text[at])) {
    --at;
  }
  return text.substr(at);
}

void append_utf8(std::uint32_t code_point, std::string& text) {
  const auto tail = [&](int shift) {
    text += static_cast<char>(0x80 | ((code_point >> shift) & 0x3F));
  };
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    text += static_cast<char>(0xC0 | code_point >> 6);
    tail(0);
  } else if (code_point < 0x10000) {
    text += static_cast<char>(0xE0 | code_point >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | code_point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const int bytes = decode_utf8(text).bytes;
    if (bytes == 0) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(bytes));
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const Utf8Char next = decode_utf8(text);
    if (next.bytes == 0) {
      append_utf8(kReplacement, valid);
      text.remove_prefix(1);
    } else {
      valid.append(text.substr(0, static_cast<std::size_t>(next.bytes)));
      text.remove_prefix(static_cast<std::size_t>(next.bytes));
    }
  }
  return valid;
}

namespace {

constexpr std::string_view kReplacementText = "\xef\xbf\xbd";

bool is_ascii_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20U && c != '\n' && c != '\t') || byte == 0x7fU;
}

/// U+0080 to U+009F: C2 80 to C2 9F.
bool is_late_control(std::string_view text) {
  return text.size() > 1 && text[0] == '\xc2' && static_cast<unsigned char>(text[1]) >= 0x80U &&
         static_cast<unsigned char>(text[1]) <= 0x9fU;
}

}  // namespace

bool holds_controls(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_ascii_control(text[i]) || is_late_control(text.substr(i))) {
      return true;
    }
  }
  return false;
}

std::string without_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_late_control(text.substr(i))) {
      out += kReplacementText;
      ++i;
    } else if (is_ascii_control(text[i])) {
      out += kReplacementText;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace mpitron
