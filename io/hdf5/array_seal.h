#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "io/hdf5/sealed_arrays.h"
#include "utils/text/hash.h"

namespace mpitron::io {

inline constexpr std::uint64_t kSealVersion = 1;

using SealedRanges = std::array<ByteRange, kSealedArrays>;

/// The seal as it lies in the file: little-endian words, as every supported machine has them.
struct ArraySeal {
  std::array<char, 8> magic{};
  std::uint64_t version = kSealVersion, hdf5_bytes = 0;
  SealedRanges arrays;
  std::uint64_t metadata_high = 0, metadata_low = 0;
  std::uint64_t check = 0;  // XXH3 of all before
};
static_assert(sizeof(ArraySeal) == 128);

std::uint64_t check_of(const ArraySeal& seal);

/// Calls body(array, range) for the arrays in the order of the file.
template <class Body>
void in_file_order(const SealedRanges& ranges, Body&& body) {
  std::array<std::size_t, kSealedArrays> order{0, 1, 2, 3, 4};
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return ranges[a].begin < ranges[b].begin; });
  for (const std::size_t i : order) {
    body(i, ranges[i]);
  }
}

/// Returns the hash of everything that is in no array; nothing where arrays overlap or lie outside.
/// One without bytes lies anywhere inside.
std::optional<Hash128> hash_metadata(std::string_view text, const SealedRanges& ranges);

/// Reads and checks the seal of a file. Error(data) where it is damaged or of another kind.
ArraySeal read_seal(const MappedFile& file, const SealedFormat& format);

}  // namespace mpitron::io
