#include "io/hdf5/sealed_arrays.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <unistd.h>

#include "utils/check.h"
#include "utils/error.h"
#include "utils/text/hash.h"

// Small HDF5 files of arrays with hashes over everything: index caches, archives of images,
// corpora.

namespace mpitron::io {
namespace {

constexpr std::uint64_t kVersion = 1;

using Ranges = std::array<ByteRange, kSealedArrays>;

// The seal as it lies in the file: little-endian words, as every supported machine has them.
struct Seal {
  std::array<char, 8> magic{};
  std::uint64_t version = kVersion, hdf5_bytes = 0;
  Ranges arrays;
  std::uint64_t metadata_high = 0, metadata_low = 0;
  std::uint64_t check = 0;  // XXH3 of all before
};
static_assert(sizeof(Seal) == 128);

std::uint64_t check_of(const Seal& seal) {
  return hash64({reinterpret_cast<const char*>(&seal), offsetof(Seal, check)});
}

/// Calls body(array, range) for the arrays in the order of the file.
template <class Body>
void in_file_order(const Ranges& ranges, Body&& body) {
  std::array<std::size_t, kSealedArrays> order{0, 1, 2, 3, 4};
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return ranges[a].begin < ranges[b].begin; });
  for (const std::size_t i : order) {
    body(i, ranges[i]);
  }
}

/// Hash of everything that is in no array; nothing where arrays overlap or lie outside. One without
/// bytes lies anywhere inside.
std::optional<Hash128> hash_metadata(std::string_view text, const Ranges& ranges) {
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

Seal read_seal(const MappedFile& file, const SealedFormat& format) {
  const std::string path = file.path().string();
  const std::string_view text = file.text();
  Seal seal;
  if (text.size() >= sizeof(Seal)) {
    std::memcpy(&seal, text.data() + text.size() - sizeof(Seal), sizeof(Seal));
  }
  const Index end = static_cast<Index>(text.size()) - static_cast<Index>(sizeof(Seal));
  if (std::string_view(seal.magic.data(), seal.magic.size()) != format.magic) {
    throw_data("{}: byte {}: expected the seal of {}, found none: truncated, or not written by {}",
               path, std::max(end, Index{0}), format.content, format.writer);
  }
  if (seal.check != check_of(seal)) {
    throw_data("{}: byte {}: the seal does not fit its own hash: it is damaged", path, end);
  }
  if (seal.version != kVersion) {
    throw_data("{}: byte {}: expected version {}, found {}", path, end + 8, kVersion, seal.version);
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

SealedArrays ask_hdf5(const std::string& path, const SealedFormat& format) {
  const Hdf5File hdf5(path, Hdf5File::Mode::read);
  SealedArrays result{.arrays = {}, .attributes = hdf5.attributes("/")};
  for (const DataSet& data_set : hdf5.data_sets({})) {
    const auto name = std::ranges::find(format.names, data_set.name);
    if (name != format.names.end() && data_set.shape.rank() == 1) {
      result.arrays[static_cast<std::size_t>(name - format.names.begin())] = data_set;
    }
  }
  return result;
}

/// A name for a file that goes away with this.
class PassingName {
 public:
  explicit PassingName(std::filesystem::path path) : path_(std::move(path)) {}
  ~PassingName() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  PassingName(const PassingName&) = delete;
  PassingName& operator=(const PassingName&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A file that HDF5 made, with holes where the arrays belong.
class Skeleton {
 public:
  Skeleton(const std::filesystem::path& path, std::span<const DataSet> arrays,
           const Attributes& attributes)
      : name_(path.string() + ".skeleton." + std::to_string(::getpid())) {
    Hdf5File hdf5(name_.path(), Hdf5File::Mode::create);
    for (std::size_t i = 0; i < kSealedArrays; ++i) {
      ranges_[i] = {hdf5.create_data_set(arrays[i]), arrays[i].bytes()};
    }
    hdf5.set_attributes("/", attributes);
    hdf5.close();
  }

  const std::filesystem::path& path() const { return name_.path(); }
  const Ranges& ranges() const { return ranges_; }

 private:
  PassingName name_;
  Ranges ranges_;
};

}  // namespace

SealedArrays read_sealed(const MappedFile& file, const SealedFormat& format) {
  const std::string path = file.path().string();
  const Seal seal = read_seal(file, format);
  SealedArrays result = ask_hdf5(path, format);
  for (std::size_t i = 0; i < kSealedArrays; ++i) {
    const DataSet& found = result.arrays[i];
    if (found.name != format.names[i] || found.bytes() != seal.arrays[i].bytes ||
        (found.bytes() > 0 && found.offset != seal.arrays[i].begin)) {
      throw_data("{}: the data set {} is missing, or not what the seal says: {} of {} at byte {}",
                 path, format.names[i], to_string(found.shape), name_of(found.dtype), found.offset);
    }
    result.arrays[i].offset = seal.arrays[i].begin;
  }
  return result;
}

void write_sealed(const std::filesystem::path& path, const SealedFormat& format,
                  std::array<DataSet, kSealedArrays> arrays, Attributes attributes,
                  const WriteArray& write) {
  for (std::size_t i = 0; i < kSealedArrays; ++i) {
    arrays[i].name = format.names[i];
  }
  attributes["schema_version"] = static_cast<Index>(kVersion);
  const Skeleton skeleton(path, arrays, attributes);
  const MappedFile frame(skeleton.path());
  AtomicFile file(path);
  std::size_t position = 0;
  in_file_order(skeleton.ranges(), [&](std::size_t i, const ByteRange& range) {
    if (range.bytes > 0) {
      const auto begin = static_cast<std::size_t>(range.begin);
      MPITRON_CHECK(begin >= position, begin, position);
      file.write(frame.text().substr(position, begin - position));
      write(i, file);
      position = begin + static_cast<std::size_t>(range.bytes);
    }
  });
  const std::size_t end = frame.text().size();
  file.write(frame.text().substr(position));
  const auto hash = hash_metadata(frame.text(), skeleton.ranges());
  MPITRON_CHECK(hash.has_value(), path.string());
  Seal seal;
  std::copy(format.magic.begin(), format.magic.end(), seal.magic.begin());
  seal.hdf5_bytes = end;
  seal.arrays = skeleton.ranges();
  seal.metadata_high = hash->high;
  seal.metadata_low = hash->low;
  seal.check = check_of(seal);
  file.write(&seal, sizeof(seal));
  file.commit();
}

}  // namespace mpitron::io
