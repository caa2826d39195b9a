#pragma once
#include <filesystem>
#include <mutex>
#include <string>

#include "io/hdf5/hdf5_file.h"
#include "io/hdf5/hdf5_types.h"
#include "utils/error.h"

namespace mpitron::io {

/// Why HDF5 refused its last call.
std::string hdf5_reason();

/// Properties of what is made: without times, which would make files of equal contents differ; only
/// the root group still has one.
HdfHandle untimed(HdfId property_class);

/// An open file: HDF5 serves one thread at a time.
struct Hdf5File::Handles {
  std::unique_lock<std::recursive_mutex> lock;
  std::filesystem::path path;
  HdfHandle file = {-1, nullptr};

  template <class T>
  T check(T result, const std::string& action) const {
    if (result < 0) {
      throw_data("{}: cannot {}: HDF5 says: {}", path.string(), action, hdf5_reason());
    }
    return result;
  }
  HdfHandle own(HdfId id, int (*close)(HdfId), const std::string& action) const {
    return {check(id, action), close};
  }

  /// Makes the groups that `path` lies in. HDF5 would do so by itself, but note the time.
  void make_groups_of(const std::string& path) const;
  HdfHandle create(const std::string& name, HdfId type, const Shape& shape) const;
  HdfHandle create(const std::string& name, HdfId type, HdfId space, HdfId creation) const;
  HdfHandle space(const std::string& name, const Shape& shape) const;
  HdfHandle open(const std::string& name) const;
  HdfHandle open_group(const std::string& name) const;
  Index offset(HdfId data_set, const std::string& name) const;
  Shape shape(HdfId data_set, const std::string& name) const;
  DType dtype(HdfId data_set, const std::string& name) const;
  DataSet describe(const std::string& name) const;
  Attribute attribute(HdfId group, const std::string& name) const;
};

}  // namespace mpitron::io
