#pragma once
#include <span>
#include <string>
#include <vector>

#include "checkpoint/format/file.h"
#include "checkpoint/format/posix_file.h"

namespace mpitron::checkpoint {

/// The last 64 bytes of a complete file, behind what HDF5 knows of. It is found and checked before
/// HDF5 sees a byte: HDF5 may hang or crash on damaged metadata (docs/checkpoint-format.md).
struct Seal {
  static constexpr Index kBytes = 64;

  Index schema_version = kSharedFileSchema;
  Index hdf5_bytes = 0;      // the file without the seal
  Index extents_offset = 0;  // of the table integrity/extents
  Index extents = 0;         // its records of 32 bytes
  Hash128 metadata;          // of all bytes of [0, hdf5_bytes) that no extent covers, in order

  std::string encode() const;
};

/// The seal and extents (by offset) of a complete file, after every check that needs no HDF5:
/// sizes, order, the hash of the metadata.
struct SealedExtents {
  Seal seal;
  std::vector<Extent> extents;
};
/// Reads and checks them. Error(data) with the file's name.
SealedExtents check_seal(const PosixFile& file);

/// Seals a file that HDF5 has closed, and brings it to the disk: first what the seal vouches for,
/// then the seal.
void append_seal(const std::filesystem::path& path, Index schema_version,
                 std::span<const Extent> extents, Index extents_offset);

/// Hashes the bytes of [0, end) that no extent covers.
Hash128 hash_metadata(const PosixFile& file, std::span<const Extent> extents, Index end);

/// Hashes bytes of the file, read in pieces.
Hash128 hash_bytes(const PosixFile& file, Index offset, Index bytes);

}  // namespace mpitron::checkpoint
