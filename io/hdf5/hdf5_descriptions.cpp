#include <algorithm>

#include <hdf5.h>

#include "io/hdf5/hdf5_handles.h"

// What HDF5 says of data sets and attributes that are there.

namespace mpitron::io {
namespace {

// Nothing a checkpoint holds as one attribute comes near this; a damaged size does.
constexpr hsize_t kLargestAttribute = hsize_t{64} << 20;

}  // namespace

Index Hdf5File::Handles::offset(hid_t data_set, const std::string& name) const {
  const HdfHandle properties = own(H5Dget_create_plist(data_set), H5Pclose, "inspect " + name);
  const HdfHandle space = own(H5Dget_space(data_set), H5Sclose, "inspect " + name);
  if (H5Pget_layout(properties) != H5D_CONTIGUOUS) {
    throw_data("{}: the data set {} is not contiguous", path.string(), name);
  }
  if (H5Sget_simple_extent_npoints(space) == 0) {
    return 0;
  }
  const haddr_t offset = H5Dget_offset(data_set);
  if (offset == HADDR_UNDEF) {
    throw_data("{}: the data set {} has no place in the file", path.string(), name);
  }
  return static_cast<Index>(offset);
}

Shape Hdf5File::Handles::shape(hid_t data_set, const std::string& name) const {
  const HdfHandle space = own(H5Dget_space(data_set), H5Sclose, "inspect " + name);
  const int rank = check(H5Sget_simple_extent_ndims(space), "inspect " + name);
  if (rank > Shape::kMaxRank) {
    throw_data("{}: the data set {} has {} dimensions, and at most {} are possible", path.string(),
               name, rank, Shape::kMaxRank);
  }
  HdfExtents extents{};
  check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), "inspect " + name);
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    shape.push_back(static_cast<Index>(extents[static_cast<std::size_t>(i)]));
  }
  return shape;
}

DType Hdf5File::Handles::dtype(hid_t data_set, const std::string& name) const {
  const HdfHandle type = own(H5Dget_type(data_set), H5Tclose, "inspect " + name);
  for (const DType dtype : kDTypes) {
    if (H5Tequal(type, hdf_type(dtype)) > 0) {
      return dtype;
    }
  }
  throw_data("{}: the data set {} has a type that no file of ours has", path.string(), name);
}

DataSet Hdf5File::Handles::describe(const std::string& name) const {
  const HdfHandle data_set = open(name);
  return {.name = name,
          .shape = shape(data_set, name),
          .dtype = dtype(data_set, name),
          .offset = offset(data_set, name)};
}

Attribute Hdf5File::Handles::attribute(hid_t group, const std::string& name) const {
  const std::string action = "read the attribute " + name;
  const HdfHandle id = own(H5Aopen(group, name.c_str(), H5P_DEFAULT), H5Aclose, action);
  const HdfHandle type = own(H5Aget_type(id), H5Tclose, action);
  const HdfHandle space = own(H5Aget_space(id), H5Sclose, action);
  const H5T_class_t kind = H5Tget_class(type);
  const std::size_t size = H5Tget_size(type);
  if (H5Sget_simple_extent_npoints(space) != 1 || size > kLargestAttribute ||
      H5Tis_variable_str(type) > 0) {
    throw_data("{}: the attribute {} is no number or text that a file of ours has", path.string(),
               name);
  }
  if (kind == H5T_INTEGER) {
    Index value = 0;
    check(H5Aread(id, H5T_NATIVE_INT64, &value), action);
    return value;
  }
  if (kind == H5T_FLOAT) {
    double value = 0;
    check(H5Aread(id, H5T_NATIVE_DOUBLE, &value), action);
    return value;
  }
  std::string text(size, '\0');
  check(H5Aread(id, text_type(size), text.data()), action);
  text.resize(std::min(text.find('\0'), size));
  return text;
}

}  // namespace mpitron::io
