#pragma once
#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "utils/numbers/shape.h"

namespace mpitron::io {

// Headers of tar archives, and the records of pax in front of them.

/// A field of characters, which ends with a zero or with the field.
inline std::string_view tar_text_of(std::string_view field) {
  return field.substr(0, field.find('\0'));
}

/// Octal digits between blanks; or, where the first bit is set, a large number in base 256.
inline std::optional<Index> tar_number_of(std::string_view field) {
  if (!field.empty() && (static_cast<unsigned char>(field[0]) & 0x80U) != 0) {
    Index value = static_cast<unsigned char>(field[0]) & 0x3fU;
    for (const char byte : field.substr(1)) {
      if (value >> 54 != 0) {
        return std::nullopt;
      }
      value = value << 8 | static_cast<unsigned char>(byte);
    }
    return value;
  }
  std::string_view digits = tar_text_of(field);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, digits.find(' '));
  Index value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value, 8);
  return error == std::errc() && end == digits.end() ? std::optional(value) : std::nullopt;
}

/// One header of 512 bytes.
struct TarHeader {
  std::string_view block;

  std::string_view field(std::size_t begin, std::size_t size) const {
    return block.substr(begin, size);
  }
  bool empty() const { return block.find_first_not_of('\0') == std::string_view::npos; }
  char kind() const { return block[156]; }
  std::optional<Index> bytes() const { return tar_number_of(field(124, 12)); }
  /// The sum of all bytes, those of the field itself taken as blanks.
  bool sum_agrees() const {
    Index sum = 8 * ' ';
    for (std::size_t i = 0; i < block.size(); ++i) {
      sum += i >= 148 && i < 156 ? 0 : static_cast<unsigned char>(block[i]);
    }
    return tar_number_of(field(148, 8)) == sum;
  }
  std::string name() const {
    const std::string_view name = tar_text_of(field(0, 100)), prefix = tar_text_of(field(345, 155));
    const bool posix = field(257, 6) == std::string_view("ustar\0", 6);
    return posix && !prefix.empty() ? std::string(prefix) + "/" + std::string(name)
                                    : std::string(name);
  }
};

/// What a record in front of a member says of it.
struct TarExtension {
  std::optional<std::string> name;
  std::optional<Index> bytes;
};

/// "LENGTH KEY=VALUE\n" records of pax; false where they are damaged.
inline bool read_pax(std::string_view records, TarExtension& extension) {
  while (!records.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(records.begin(), records.end(), length);
    const auto begin = static_cast<std::size_t>(end - records.begin()) + 1;
    if (error != std::errc() || length <= begin || length > records.size() ||
        records[begin - 1] != ' ' || records[length - 1] != '\n') {
      return false;
    }
    const std::string_view record = records.substr(begin, length - begin - 1);
    const std::size_t equals = std::min(record.find('='), record.size());
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(std::min(equals + 1, record.size()));
    if (key == "path") {
      extension.name = std::string(value);
    } else if (key == "size") {
      Index bytes = 0;
      const auto parsed = std::from_chars(value.begin(), value.end(), bytes);
      if (parsed.ec != std::errc() || parsed.ptr != value.end()) {
        return false;
      }
      extension.bytes = bytes;
    }
    records.remove_prefix(length);
  }
  return true;
}

}  // namespace mpitron::io
