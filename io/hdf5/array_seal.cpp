#include "io/hdf5/array_seal.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <unistd.h>

#include "io/hdf5/sealed_arrays.h"
#include "utils/error.h"
#include "utils/text/hash.h"

namespace mpitron::io {

std::uint64_t check_of(const ArraySeal& seal) {
  return hash64({reinterpret_cast<const char*>(&seal), offsetof(ArraySeal, check)});
}

std::optional<Hash128> hash_metadata(std::string_view text, const SealedRanges& ranges) {
  Hasher128 hasher;
  Index position = 0;
  bool in_order = true;
  const auto size = static_cast<Index>(text.size());
  in_file_order(ranges, [&](std::size_t, const ByteRange& range) {
    in_order = in_order && range.bytes >= 0 && range.begin >= (range.bytes > 0 ? position : 0) &&
               range.begin <= size && range.bytes <= size - range.begin;
    if (in_order && range.bytes > 0) {
      hasher.update(text.substr(static_cast<std::size_t>(position),
                                static_cast<std::size_t>(range.begin - position)));
      position = range.begin + range.bytes;
    }
  });
  hasher.update(text.substr(static_cast<std::size_t>(position)));
  return in_order ? std::optional(hasher.digest()) : std::nullopt;
}

ArraySeal read_seal(const MappedFile& file, const SealedFormat& format) {
  const std::string path = file.path().string();
  const std::string_view text = file.text();
  ArraySeal seal;
  if (text.size() >= sizeof(ArraySeal)) {
    std::memcpy(&seal, text.data() + text.size() - sizeof(ArraySeal), sizeof(ArraySeal));
  }
  const Index end = static_cast<Index>(text.size()) - static_cast<Index>(sizeof(ArraySeal));
  if (std::string_view(seal.magic.data(), seal.magic.size()) != format.magic) {
    throw_data("{}: byte {}: expected the seal of {}, found none: truncated, or not written by {}",
               path, std::max(end, Index{0}), format.content, format.writer);
  }
  if (seal.check != check_of(seal)) {
    throw_data("{}: byte {}: the seal does not fit its own hash: it is damaged", path, end);
  }
  if (seal.version != kSealVersion) {
    throw_data("{}: byte {}: expected version {}, found {}", path, end + 8, kSealVersion,
               seal.version);
  }
  if (seal.hdf5_bytes != static_cast<std::uint64_t>(end)) {
    throw_data("{}: expected {} bytes before the seal, found {}: truncated or joined", path,
               seal.hdf5_bytes, end);
  }
  const auto hash = hash_metadata(text.substr(0, static_cast<std::size_t>(end)), seal.arrays);
  if (!hash || *hash != Hash128{seal.metadata_high, seal.metadata_low}) {
    throw_data("{}: what describes the arrays is damaged (its hash is another)", path);
  }
  return seal;
}

}  // namespace mpitron::io
