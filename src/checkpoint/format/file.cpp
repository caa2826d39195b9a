#include "checkpoint/format/file.h"

#include <algorithm>
#include <optional>

#include "checkpoint/format/file_structure.h"
#include "checkpoint/format/posix_file.h"
#include "checkpoint/format/seal.h"
#include "checkpoint/format/writer_files.h"
#include "utils/error.h"

// A checkpoint's file is made in two steps. HDF5 lays out all data sets and writes the metadata
// while they are still empty; the bytes of tensors go to their offsets without HDF5 (posix_file.h),
// from all ranks at once. The seal closes the file (seal.h).

namespace mpitron::checkpoint {
namespace {

using io::Hdf5File;

/// Returns the bytes of a data set; none where their number overflows. Sizes come from the file.
std::optional<Index> bytes_of(const DataSet& data_set) {
  auto bytes = static_cast<Index>(size_of(data_set.dtype));
  for (int i = 0; i < data_set.shape.rank(); ++i) {
    if (data_set.shape[i] < 0 || __builtin_mul_overflow(bytes, data_set.shape[i], &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

/// Throws Error(data) where a data set does not lie inside the file: such a header is damaged.
void check_place(const DataSet& data_set, Index end, const std::string& path) {
  const std::optional<Index> bytes = bytes_of(data_set);
  if (!bytes || data_set.offset < 0 || *bytes > end || data_set.offset > end - *bytes) {
    throw_data("{}: the data set {} lies outside of the file", path, data_set.name);
  }
}

/// Gives virtual data sets their offsets: they lie one after another in the storage.
void place_in_a_row(std::vector<DataSet>& data_sets, const std::string& path) {
  Index end = 0;
  for (DataSet& data_set : data_sets) {
    const std::optional<Index> bytes = bytes_of(data_set);
    data_set.offset = end;
    if (!bytes || __builtin_add_overflow(end, *bytes, &end)) {
      throw_data("{}: the data set {} has more bytes than there are", path, data_set.name);
    }
  }
}

}  // namespace

std::vector<DataSet> create_file(const std::filesystem::path& path, const Header& header,
                                 std::vector<DataSet> data_sets) {
  return allocate_file(path, std::move(data_sets),
                       [&](Hdf5File& file) { write_header(file, header, false); });
}

/// Everything in HDF5 comes before the seal, also the mark of completeness: the seal's hash covers
/// it.
void seal_file(const std::filesystem::path& path, std::vector<Extent> extents,
               Index schema_version) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  Index extents_offset = 0;
  {
    Hdf5File file(path, Hdf5File::Mode::modify);
    MPITRON_CHECK(coverage_of(extents) == coverage_of(file.data_sets(kReserved)), path.string());
    extents_offset = file.write_extents(kExtentsName, extents);
    file.set_attributes("/", {{"complete", Index{1}}});
    file.close();
  }
  append_seal(path, schema_version, extents, extents_offset);
}

File::File(const std::filesystem::path& path) : path_(path) {
  const PosixFile plain(path, PosixFile::Mode::read);
  SealedExtents sealed = check_seal(plain);
  const Hdf5File file(path, Hdf5File::Mode::read);
  header_ = read_header(file, path.string());
  if (header_.schema_version != sealed.seal.schema_version) {
    throw_data("{}: its attribute says schema version {} and its seal {}", path.string(),
               header_.schema_version, sealed.seal.schema_version);
  }
  if (header_.schema_version == kFilePerWriterSchema) {
    data_sets_ = read_viewed_data_sets(file, path);
    place_in_a_row(data_sets_, path.string());
    WriterFiles files = read_writer_files(file, path, data_sets_);
    extents_ = std::move(files.extents);
    storage_ = std::move(files.storage);
  } else {
    data_sets_ = file.data_sets(kReserved);
    for (const DataSet& data_set : data_sets_) {
      check_place(data_set, sealed.seal.hdf5_bytes, path.string());
    }
    extents_ = std::move(sealed.extents);
    storage_ = {.files = {path}, .ranges = {{.begin = 0, .bytes = sealed.seal.hdf5_bytes}}};
  }
  if (coverage_of(extents_) != coverage_of(data_sets_)) {
    throw_data("{}: the extents do not cover the data sets", path.string());
  }
}

const DataSet* File::find(const std::string& name) const {
  const auto found = std::lower_bound(
      data_sets_.begin(), data_sets_.end(), name,
      [](const DataSet& data_set, const std::string& n) { return data_set.name < n; });
  return found != data_sets_.end() && found->name == name ? &*found : nullptr;
}

}  // namespace mpitron::checkpoint
