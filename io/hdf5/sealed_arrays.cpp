#include "io/hdf5/sealed_arrays.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <unistd.h>

#include "io/hdf5/array_seal.h"
#include "utils/check.h"
#include "utils/error.h"

// Small HDF5 files of arrays with hashes over everything: index caches, archives of images,
// corpora.

namespace mpitron::io {
namespace {

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
  const SealedRanges& ranges() const { return ranges_; }

 private:
  PassingName name_;
  SealedRanges ranges_;
};

}  // namespace

SealedArrays read_sealed(const MappedFile& file, const SealedFormat& format) {
  const std::string path = file.path().string();
  const ArraySeal seal = read_seal(file, format);
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
  attributes["schema_version"] = static_cast<Index>(kSealVersion);
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
  ArraySeal seal;
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
