#include <algorithm>

#include <hdf5.h>

#include "io/hdf5/hdf5_file.h"
#include "io/hdf5/hdf5_handles.h"

// Reads data sets, tables and attributes of an HDF5 file.

namespace mpitron::io {
namespace {

// Nothing a checkpoint holds as one file comes near this; a damaged size does.
constexpr Index kLargestBytes = Index{1} << 32;

// For H5Ovisit: adds the names of data sets. A template, because HDF5's versions differ in the type
// of `info`; no exception may pass HDF5.
template <class Info>
herr_t add_data_set(hid_t /*group*/, const char* name, const Info* info, void* names) noexcept {
  if (info->type == H5O_TYPE_DATASET) {
    static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  }
  return 0;
}

herr_t add_attribute(hid_t /*group*/, const char* name, const H5A_info_t* /*info*/,
                     void* names) noexcept {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

}  // namespace

std::vector<std::uint64_t> Hdf5File::read_table(const std::string& name,
                                                const TableFields& fields) const {
  const HdfHandle id = handles_->open(name);
  const HdfHandle type = table_type(fields);
  const HdfHandle stored = handles_->own(H5Dget_type(id), H5Tclose, "inspect " + name);
  const Shape shape = handles_->shape(id, name);
  if (H5Tequal(stored, type) <= 0 || shape.rank() != 1 ||
      shape[0] > kLargestBytes / static_cast<Index>(fields.size() * kTableWord)) {
    throw_data("{}: the data set {} is no table that a file of ours has", handles_->path.string(),
               name);
  }
  handles_->offset(id, name);  // contiguous, so that it is no larger than the file
  std::vector<std::uint64_t> words(static_cast<std::size_t>(shape[0]) * fields.size());
  if (!words.empty()) {
    handles_->check(H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, words.data()),
                    "read the data set " + name);
  }
  return words;
}

std::vector<std::string> Hdf5File::names_below(const std::string& group) const {
  std::vector<std::string> names;
  const HdfHandle id = handles_->open_group(group);
  handles_->check(H5Ovisit2(id, H5_INDEX_NAME, H5_ITER_INC, add_data_set, &names, H5O_INFO_BASIC),
                  "list the data sets");
  return names;
}

std::vector<DataSet> Hdf5File::data_sets(std::span<const std::string_view> skipped) const {
  std::vector<DataSet> all;
  for (const std::string& name : names_below("/")) {
    const std::string_view group = std::string_view(name).substr(0, name.find('/'));
    if (std::find(skipped.begin(), skipped.end(), group) == skipped.end()) {
      all.push_back(handles_->describe(name));
    }
  }
  std::sort(all.begin(), all.end(),
            [](const DataSet& a, const DataSet& b) { return a.name < b.name; });
  return all;
}

std::string Hdf5File::read_bytes(const std::string& name) const {
  const DataSet data_set = handles_->describe(name);
  if (data_set.dtype != DType::u8 || data_set.shape.rank() != 1 ||
      data_set.shape[0] > kLargestBytes) {
    throw_data("{}: the data set {} is no file", handles_->path.string(), name);
  }
  std::string bytes(static_cast<std::size_t>(data_set.shape[0]), '\0');
  if (!bytes.empty()) {
    handles_->check(H5Dread(handles_->open(name), H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                            bytes.data()),
                    "read the data set " + name);
  }
  return bytes;
}

Attributes Hdf5File::attributes(const std::string& group) const {
  const HdfHandle id = handles_->open_group(group);
  std::vector<std::string> names;
  hsize_t position = 0;
  handles_->check(H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_INC, &position, add_attribute, &names),
                  "list the attributes of " + group);
  Attributes attributes;
  for (const std::string& name : names) {
    attributes.emplace(name, handles_->attribute(id, name));
  }
  return attributes;
}

}  // namespace mpitron::io
