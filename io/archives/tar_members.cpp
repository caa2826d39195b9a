#include "io/archives/tar_members.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "utils/error.h"

// Walks an archive header by header. Long names come as members of their own (GNU) or as records in
// front of a member (pax); checksums are verified, so that a file that is no archive is told at
// once.

namespace mpitron::io {
namespace {

constexpr Index kBlock = 512;
constexpr Index kLongestName = 1 << 16;  // of a record that holds one

Index rounded_to_blocks(Index bytes) {
  return (bytes + kBlock - 1) / kBlock * kBlock;
}

/// A field of characters, which ends with a zero or with the field.
std::string_view text_of(std::string_view field) {
  return field.substr(0, field.find('\0'));
}

/// Octal digits between blanks; or, where the first bit is set, a large number in base 256.
std::optional<Index> number_of(std::string_view field) {
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
  std::string_view digits = text_of(field);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, digits.find(' '));
  Index value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value, 8);
  return error == std::errc() && end == digits.end() ? std::optional(value) : std::nullopt;
}

/// One header of 512 bytes.
struct Header {
  std::string_view block;

  std::string_view field(std::size_t begin, std::size_t size) const {
    return block.substr(begin, size);
  }
  bool empty() const { return block.find_first_not_of('\0') == std::string_view::npos; }
  char kind() const { return block[156]; }
  std::optional<Index> bytes() const { return number_of(field(124, 12)); }
  /// The sum of all bytes, those of the field itself taken as blanks.
  bool sum_agrees() const {
    Index sum = 8 * ' ';
    for (std::size_t i = 0; i < block.size(); ++i) {
      sum += i >= 148 && i < 156 ? 0 : static_cast<unsigned char>(block[i]);
    }
    return number_of(field(148, 8)) == sum;
  }
  std::string name() const {
    const std::string_view name = text_of(field(0, 100)), prefix = text_of(field(345, 155));
    const bool posix = field(257, 6) == std::string_view("ustar\0", 6);
    return posix && !prefix.empty() ? std::string(prefix) + "/" + std::string(name)
                                    : std::string(name);
  }
};

/// What a record in front of a member says of it.
struct Extension {
  std::optional<std::string> name;
  std::optional<Index> bytes;
};

/// "LENGTH KEY=VALUE\n" records of pax; false where they are damaged.
bool read_pax(std::string_view records, Extension& extension) {
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

class TarReader {
 public:
  explicit TarReader(const MappedFile& archive)
      : path_(archive.path().string()), text_(archive.text()) {
    if (text_.starts_with("\x1f\x8b") || text_.starts_with("\x28\xb5\x2f\xfd")) {
      throw_data("{}: a compressed archive; unpack it to .tar, members are read where they lie",
                 path_);
    }
  }

  std::vector<TarMember> members() {
    while (position_ < size()) {
      const Header header{bytes(position_, kBlock)};
      if (header.empty()) {
        break;
      }
      if (!header.sum_agrees() || !header.bytes()) {
        fail("no header of a tar archive");
      }
      position_ += kBlock;
      take(header);
    }
    return std::move(members_);
  }

 private:
  Index size() const { return static_cast<Index>(text_.size()); }
  [[noreturn]] void fail(std::string_view problem) const {
    throw_data("{}: byte {}: {}", path_, position_, problem);
  }
  std::string_view bytes(Index begin, Index count) const {
    if (count < 0 || count > size() - begin) {
      fail("the archive is truncated");
    }
    return text_.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
  }

  /// A member, or what one says of the next.
  void take(const Header& header) {
    const Index stored = *header.bytes();
    const char kind = header.kind();
    const bool describes = kind == 'x' || kind == 'L';
    const Index count = describes ? stored : extension_.bytes.value_or(stored);
    const std::string_view content = bytes(position_, count);
    if (describes && count > kLongestName) {
      fail("a record about a member is too long");
    }
    if (kind == 'x') {
      if (!read_pax(content, extension_)) {
        fail("a damaged pax record");
      }
    } else if (kind == 'L') {
      extension_.name = std::string(text_of(content));
    } else {
      if (kind == '0' || kind == '\0' || kind == '7') {
        members_.push_back({extension_.name.value_or(header.name()), position_, count});
      }
      // Global records ('g') and long targets of links ('K') say nothing about names and sizes.
      extension_ = kind == 'g' || kind == 'K' ? extension_ : Extension{};
    }
    position_ = std::min(position_ + rounded_to_blocks(count), size());
  }

  std::string path_;
  std::string_view text_;
  Index position_ = 0;
  Extension extension_;
  std::vector<TarMember> members_;
};

}  // namespace

std::vector<TarMember> tar_members(const MappedFile& archive) {
  return TarReader(archive).members();
}

}  // namespace mpitron::io
