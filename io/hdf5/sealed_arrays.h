#pragma once
#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "io/hdf5/hdf5_file.h"
#include "utils/system/files.h"

namespace mpitron::io {

/// Bytes [begin, begin + bytes) of a file.
struct ByteRange {
  Index begin = 0;
  Index bytes = 0;
};

inline constexpr std::size_t kSealedArrays = 5;

/// One kind of sealed files.
struct SealedFormat {
  std::string_view magic;    // 8 letters
  std::string_view content;  // "a corpus": what messages call it
  std::string_view writer;   // the command that makes such files
  std::array<const char*, kSealedArrays> names;
};

/// What HDF5 and the seal say of a file; arrays in the order of the names.
struct SealedArrays {
  std::array<DataSet, kSealedArrays> arrays;
  Attributes attributes;

  ByteRange range(std::size_t array) const { return {arrays[array].offset, arrays[array].bytes()}; }
};

/// Five arrays of one dimension in an HDF5 file, neither chunked nor compressed: any HDF5 tool
/// reads them, and we map them. The last 128 bytes of the file are a seal: it says where the arrays
/// lie and hashes everything else, because HDF5 may hang or crash on damaged structures; it is
/// checked first, then HDF5 is asked for the places too. Error(data) where the file is damaged or
/// of another kind; damage inside the arrays is left to their users.
SealedArrays read_sealed(const MappedFile& file, const SealedFormat& format);

/// Writes the elements of one array, in order and in any pieces.
using WriteArray = std::function<void(std::size_t array, AtomicFile& file)>;

/// Writes such a file, complete or not at all. `arrays`: types and shapes in the order of the
/// names.
void write_sealed(const std::filesystem::path& path, const SealedFormat& format,
                  std::array<DataSet, kSealedArrays> arrays, Attributes attributes,
                  const WriteArray& write);

}  // namespace mpitron::io
