#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "utils/text/utf8.h"

namespace mpitron::corpus {

// UTF-8 that was read as Windows-1252 and encoded again.

/// Characters of Windows-1252 for the bytes 0x80 to 0x9F; 0: none, the C1 control then.
inline constexpr std::array<std::uint16_t, 32> kWindows1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

/// Returns the byte that a character was before it was misread, or -1.
inline int byte_of(std::uint32_t c) {
  if (c >= 0x80 && c <= 0xFF) {
    return static_cast<int>(c);
  }
  for (std::size_t i = 0; c > 0xFF && i < kWindows1252.size(); ++i) {
    if (kWindows1252[i] == c) {
      return static_cast<int>(i) + 0x80;
    }
  }
  return -1;
}

/// Returns whether a byte may begin a misread character. Misread texts are full of the lead bytes
/// of Latin, punctuation, Cyrillic, Greek, CJK and emoji; others ("É" in "CAFÉ™") are more often
/// meant.
inline bool is_lead(int byte) {
  switch (byte) {
    case 0xC2:
    case 0xC3:
    case 0xC4:
    case 0xC5:
    case 0xCE:
    case 0xCF:
    case 0xD0:
    case 0xD1:
    case 0xD8:
    case 0xD9:
    case 0xE2:
    case 0xE3:
    case 0xF0:
      return true;
    default:
      return byte >= 0xE5 && byte <= 0xE9;
  }
}

/// Returns the character that was misread as those at the front of `text`; 0 bytes where none was.
inline Utf8Char read_misread(std::string_view text) {
  std::string bytes;
  int used = 0;
  for (int wanted = 1; static_cast<int>(bytes.size()) < wanted;) {
    if (static_cast<std::size_t>(used) == text.size()) {
      return {};
    }
    const Utf8Char next = decode_utf8(text.substr(static_cast<std::size_t>(used)));
    const int byte = next.bytes == 0 ? -1 : byte_of(next.code_point);
    if (byte < 0 || (bytes.empty() && !is_lead(byte))) {
      return {};
    }
    if (bytes.empty()) {
      wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    }
    bytes += static_cast<char>(byte);
    used += next.bytes;
  }
  const Utf8Char meant = decode_utf8(bytes);
  return meant.bytes == static_cast<int>(bytes.size()) ? Utf8Char{meant.code_point, used}
                                                       : Utf8Char{};
}

/// Undoes UTF-8 that was read as Windows-1252 and encoded again, source: ftfy's `fix_encoding`.
inline std::string undo_misreading(std::string_view text) {
  std::string fixed;
  fixed.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const bool ascii = static_cast<unsigned char>(text[at]) < 0x80;
    if (const Utf8Char meant = ascii ? Utf8Char{} : read_misread(text.substr(at));
        meant.bytes > 0) {
      append_utf8(meant.code_point, fixed);
      at += static_cast<std::size_t>(meant.bytes);
    } else {
      fixed += text[at++];
    }
  }
  return fixed;
}

}  // namespace mpitron::corpus
