#include "io/arrays/zip_archive.h"

#include <algorithm>
#include <limits>

#include "io/arrays/byte_reader.h"

// Finds the central directory from the end of the file, then each entry by its local header. Only
// stored entries are taken: their bytes are used where they lie.

namespace mpitron::io {
namespace {

// Signatures and sizes of the .ZIP file format specification (APPNOTE).
constexpr std::uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50,
                        kEndOfDirectory = 0x06054b50, kEndOfDirectory64 = 0x06064b50,
                        kLocator64 = 0x07064b50;
constexpr std::size_t kEndBytes = 22, kLocatorBytes = 20, kLocalBytes = 30, kLongestComment = 65535;
constexpr std::uint16_t kExtra64 = 0x0001;
constexpr std::uint32_t kIn64 = std::numeric_limits<std::uint32_t>::max();

struct Directory {
  std::uint64_t entries = 0, offset = 0;
};

struct Entry {
  std::string_view name;
  std::uint64_t size = 0, stored_size = 0, header = 0;
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& source)
      : bytes_(bytes), source_(source) {}

  Directory directory() const {
    const std::size_t end = end_of_directory();
    ByteReader in(bytes_, source_);
    in.seek(end + 10);
    Directory result;
    result.entries = in.number<std::uint16_t>();
    in.take(4);
    result.offset = in.number<std::uint32_t>();
    if (end >= kLocatorBytes) {
      in.seek(end - kLocatorBytes);
      if (in.number<std::uint32_t>() == kLocator64) {
        in.take(4);
        return directory64(in.number<std::uint64_t>());
      }
    }
    return result;
  }

  Entry entry(ByteReader& in) const {
    if (in.number<std::uint32_t>() != kCentralHeader) {
      in.fail("the signature of a directory entry", 0);
    }
    in.take(4);
    const auto flags = in.number<std::uint16_t>(), method = in.number<std::uint16_t>();
    in.take(8);
    Entry result;
    result.stored_size = in.number<std::uint32_t>();
    result.size = in.number<std::uint32_t>();
    const auto name = in.number<std::uint16_t>(), extra = in.number<std::uint16_t>(),
               comment = in.number<std::uint16_t>();
    in.take(8);
    result.header = in.number<std::uint32_t>();
    result.name = in.text(name);
    read_extra64(in.take(extra), result);
    in.take(comment);
    if (method != 0 || (flags & 1) != 0 || result.size != result.stored_size) {
      throw_data("{}: entry {}: compressed or encrypted; torch.save stores entries as they are",
                 source_, result.name);
    }
    return result;
  }

  std::span<const std::byte> content(const Entry& entry) const {
    ByteReader in(bytes_, source_);
    in.seek(entry.header);
    if (in.number<std::uint32_t>() != kLocalHeader) {
      in.fail("the signature of an entry", 0);
    }
    in.seek(entry.header + kLocalBytes - 4);
    const auto name = in.number<std::uint16_t>(), extra = in.number<std::uint16_t>();
    in.take(std::uint64_t{name} + extra);
    return in.take(entry.size);
  }

 private:
  std::size_t end_of_directory() const {
    const std::string_view text(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
    const std::size_t at = text.rfind("PK\5\6");
    if (at == std::string_view::npos || text.size() - at < kEndBytes ||
        text.size() - at > kEndBytes + kLongestComment) {
      throw_data(
          "{}: no directory at the end of the {} bytes: truncated, or no zip archive (torch.save "
          "of versions before 1.6 wrote another format: save again with a newer one)",
          source_, bytes_.size());
    }
    return at;
  }

  Directory directory64(std::uint64_t position) const {
    ByteReader in(bytes_, source_);
    in.seek(position);
    if (in.number<std::uint32_t>() != kEndOfDirectory64) {
      in.fail("the 64-bit end of the directory", position);
    }
    in.take(28);
    Directory result;
    result.entries = in.number<std::uint64_t>();
    in.take(8);
    result.offset = in.number<std::uint64_t>();
    return result;
  }

  /// Sizes and position that do not fit 32 bits stand in a field of their own, in this order.
  void read_extra64(std::span<const std::byte> extra, Entry& entry) const {
    ByteReader in(extra, source_);
    while (in.remaining() >= 4) {
      const auto id = in.number<std::uint16_t>(), size = in.number<std::uint16_t>();
      ByteReader field(in.take(size), source_);
      for (std::uint64_t* value : {&entry.size, &entry.stored_size, &entry.header}) {
        if (id == kExtra64 && *value == kIn64) {
          *value = field.number<std::uint64_t>();
        }
      }
    }
  }

  std::span<const std::byte> bytes_;
  const std::string& source_;
};

}  // namespace

ZipArchive::ZipArchive(std::span<const std::byte> bytes, std::string source)
    : source_(std::move(source)) {
  const Reader reader(bytes, source_);
  const Directory directory = reader.directory();
  ByteReader in(bytes, source_);
  in.seek(directory.offset);
  for (std::uint64_t i = 0; i < directory.entries; ++i) {  // ends where the bytes do
    const Entry entry = reader.entry(in);
    if (!entries_.emplace(entry.name, reader.content(entry)).second) {
      throw_data("{}: entry {} is there twice", source_, entry.name);
    }
  }
}

std::span<const std::byte> ZipArchive::at(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    throw_data("{}: no entry {} among {}", source_, name, entries_.size());
  }
  return found->second;
}

}  // namespace mpitron::io
