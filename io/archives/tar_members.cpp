#include "io/archives/tar_members.h"

#include <algorithm>
#include <string_view>

#include "io/archives/tar_header.h"
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
      const TarHeader header{bytes(position_, kBlock)};
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
  void take(const TarHeader& header) {
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
      extension_.name = std::string(tar_text_of(content));
    } else {
      if (kind == '0' || kind == '\0' || kind == '7') {
        members_.push_back({extension_.name.value_or(header.name()), position_, count});
      }
      // Global records ('g') and long targets of links ('K') say nothing about names and sizes.
      extension_ = kind == 'g' || kind == 'K' ? extension_ : TarExtension{};
    }
    position_ = std::min(position_ + rounded_to_blocks(count), size());
  }

  std::string path_;
  std::string_view text_;
  Index position_ = 0;
  TarExtension extension_;
  std::vector<TarMember> members_;
};

}  // namespace

std::vector<TarMember> tar_members(const MappedFile& archive) {
  return TarReader(archive).members();
}

}  // namespace mpitron::io
