#include "checkpoint/format/seal.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "utils/error.h"

// The seal is the proof that a file is whole: its size, and a hash of everything that is no tensor.
// It is written last and read first, by plain reads, so that a file that was cut or damaged is
// refused before HDF5 looks at it.

namespace mpitron::checkpoint {
namespace {

constexpr std::string_view kMagic = "MPITRON\x1a";
constexpr std::string_view kHdf5Signature = "\x89HDF\r\n\x1a\n";
constexpr Index kPieceBytes = Index{1} << 20;

/// The seal as it lies in the file: little-endian words, as every supported machine has them.
struct Record {
  std::array<char, 8> magic;
  std::uint64_t schema_version, hdf5_bytes, extents_offset, extents, metadata_high, metadata_low;
  std::uint64_t check;  // XXH3 of the 56 bytes before
};
static_assert(sizeof(Record) == Seal::kBytes && sizeof(Extent) == 32);

/// Hashes the record's other fields: a seal proves itself.
std::uint64_t check_of(const Record& record) {
  return hash64({reinterpret_cast<const char*>(&record), offsetof(Record, check)});
}

/// Feeds bytes of the file to a hash, in pieces.
void update(Hasher128& hasher, const PosixFile& file, Index offset, Index bytes) {
  std::string piece;
  while (bytes > 0) {
    const Index n = std::min(bytes, kPieceBytes);
    piece.resize(static_cast<std::size_t>(n));
    file.read(offset, piece.data(), n);
    hasher.update(piece);
    offset += n;
    bytes -= n;
  }
}

/// Tells a file that is no checkpoint from one that lacks its end, by the signature of HDF5.
[[noreturn]] void throw_unsealed(const PosixFile& file) {
  std::array<char, kHdf5Signature.size()> start{};
  if (file.size() >= static_cast<Index>(start.size())) {
    file.read(0, start.data(), start.size());
  }
  if (std::string_view(start.data(), start.size()) != kHdf5Signature) {
    throw_data("{}: is no mpitron checkpoint: it does not begin as an HDF5 file",
               file.path().string());
  }
  throw_data(
      "{}: has no seal at its end: it is an HDF5 file, but no checkpoint, or one that was "
      "truncated or never finished",
      file.path().string());
}

/// Every number is checked before it is used: the last bytes of a truncated file are anything.
Seal read_seal(const PosixFile& file) {
  const Index size = file.size();
  Record record{};
  if (size >= Seal::kBytes) {
    file.read(size - Seal::kBytes, &record, Seal::kBytes);
  }
  if (std::string_view(record.magic.data(), record.magic.size()) != kMagic) {
    throw_unsealed(file);
  }
  if (record.check != check_of(record) || record.schema_version < 1) {
    throw_data("{}: the seal (its last {} bytes) is damaged", file.path().string(), Seal::kBytes);
  }
  if (record.schema_version > static_cast<std::uint64_t>(kNewestSchema)) {
    throw_data("{}: has schema version {}, and this mpitron reads up to {}: use a newer mpitron",
               file.path().string(), record.schema_version, kNewestSchema);
  }
  const auto end = static_cast<std::uint64_t>(size - Seal::kBytes);
  if (record.hdf5_bytes != end) {
    throw_data("{}: has {} bytes before its seal, but {} were sealed: bytes are missing or added",
               file.path().string(), end, record.hdf5_bytes);
  }
  if (record.extents > end / sizeof(Extent) ||
      record.extents_offset > end - record.extents * sizeof(Extent)) {
    throw_data("{}: the seal names extents outside of the file", file.path().string());
  }
  return {.schema_version = static_cast<Index>(record.schema_version),
          .hdf5_bytes = static_cast<Index>(end),
          .extents_offset = static_cast<Index>(record.extents_offset),
          .extents = static_cast<Index>(record.extents),
          .metadata = {.high = record.metadata_high, .low = record.metadata_low}};
}

}  // namespace

std::string Seal::encode() const {
  Record record{.schema_version = static_cast<std::uint64_t>(schema_version),
                .hdf5_bytes = static_cast<std::uint64_t>(hdf5_bytes),
                .extents_offset = static_cast<std::uint64_t>(extents_offset),
                .extents = static_cast<std::uint64_t>(extents),
                .metadata_high = metadata.high,
                .metadata_low = metadata.low};
  std::copy(kMagic.begin(), kMagic.end(), record.magic.begin());
  record.check = check_of(record);
  return {reinterpret_cast<const char*>(&record), sizeof(record)};
}

void append_seal(const std::filesystem::path& path, Index schema_version,
                 std::span<const Extent> extents, Index extents_offset) {
  PosixFile file(path, PosixFile::Mode::modify);
  const Index end = file.size();
  const Seal seal{.schema_version = schema_version,
                  .hdf5_bytes = end,
                  .extents_offset = extents_offset,
                  .extents = static_cast<Index>(extents.size()),
                  .metadata = hash_metadata(file, extents, end)};
  file.sync();
  file.write(end, seal.encode().data(), Seal::kBytes);
  file.sync();
}

Hash128 hash_bytes(const PosixFile& file, Index offset, Index bytes) {
  Hasher128 hasher;
  update(hasher, file, offset, bytes);
  return hasher.digest();
}

Hash128 hash_metadata(const PosixFile& file, std::span<const Extent> extents, Index end) {
  // Small pieces all over the file: the disk gets to know them all before the first is waited for.
  Index before = 0;
  for (const Extent& extent : extents) {
    if (extent.offset > before) {
      file.begin_read(before, extent.offset - before);
    }
    before = extent.offset + extent.bytes;
  }
  Hasher128 hasher;
  Index position = 0;
  for (const Extent& extent : extents) {
    update(hasher, file, position, extent.offset - position);
    position = extent.offset + extent.bytes;
  }
  update(hasher, file, position, end - position);
  return hasher.digest();
}

SealedExtents check_seal(const PosixFile& file) {
  SealedExtents sealed{.seal = read_seal(file)};
  const Seal& seal = sealed.seal;
  sealed.extents.resize(static_cast<std::size_t>(seal.extents));
  file.read(seal.extents_offset, sealed.extents.data(),
            seal.extents * static_cast<Index>(sizeof(Extent)));
  Index position = 0;
  for (const Extent& extent : sealed.extents) {
    if (extent.offset < position || extent.bytes < 0 || extent.offset > seal.hdf5_bytes ||
        extent.bytes > seal.hdf5_bytes - extent.offset) {
      throw_data("{}: the table of extents (integrity/extents) is damaged", file.path().string());
    }
    position = extent.offset + extent.bytes;
  }
  if (hash_metadata(file, sealed.extents, seal.hdf5_bytes) != seal.metadata) {
    throw_data("{}: its metadata (structure, attributes, embedded files) is damaged",
               file.path().string());
  }
  return sealed;
}

}  // namespace mpitron::checkpoint
