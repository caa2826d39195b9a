#include "io/hdf5/hdf5_handles.h"

#include <hdf5.h>

// Identifiers of an open file, given back by their destructors, and HDF5's own reason in every
// message: its error stack is walked to the innermost entry.

namespace mpitron::io {
namespace {

HdfHandle link_properties() {
  HdfHandle properties(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_char_encoding(properties, H5T_CSET_UTF8);
  return properties;
}

/// Of a failed call of the system HDF5 tells times, addresses and names; the system's own words say
/// what it was.
std::string plain(const std::string& reason) {
  const std::string mark = "error message = '";
  const std::size_t begin = reason.find(mark);
  return begin == std::string::npos
             ? reason
             : reason.substr(begin + mark.size(),
                             reason.find('\'', begin + mark.size()) - begin - mark.size());
}

}  // namespace

// The innermost entry of HDF5's error stack: the cause.
std::string hdf5_reason() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* entry, void* data) -> herr_t {
        auto& into = *static_cast<std::string*>(data);
        if (into.empty() && entry->desc != nullptr) {
          into = entry->desc;
        }
        return 0;
      },
      &text);
  return text.empty() ? "no reason given" : plain(text);
}

HdfHandle untimed(HdfId property_class) {
  HdfHandle properties(H5Pcreate(property_class), H5Pclose);
  H5Pset_obj_track_times(properties, false);
  return properties;
}

void Hdf5File::Handles::make_groups_of(const std::string& path) const {
  const HdfHandle creation = untimed(H5P_GROUP_CREATE);
  const HdfHandle link = link_properties();
  for (auto end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
    const std::string group = path.substr(0, end);
    if (check(H5Lexists(file, group.c_str(), H5P_DEFAULT), "look for the group " + group) == 0) {
      own(H5Gcreate2(file, group.c_str(), link, creation, H5P_DEFAULT), H5Gclose,
          "create the group " + group);
    }
  }
}

HdfHandle Hdf5File::Handles::space(const std::string& name, const Shape& shape) const {
  const HdfExtents extents = hdf_extents(shape);
  return own(shape.rank() == 0 ? H5Screate(H5S_SCALAR)
                               : H5Screate_simple(shape.rank(), extents.data(), nullptr),
             H5Sclose, "give a shape to " + name);
}

HdfHandle Hdf5File::Handles::create(const std::string& name, hid_t type, const Shape& shape) const {
  const HdfHandle creation = untimed(H5P_DATASET_CREATE);
  H5Pset_layout(creation, H5D_CONTIGUOUS);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  return create(name, type, space(name, shape), creation);
}

HdfHandle Hdf5File::Handles::create(const std::string& name, hid_t type, hid_t space,
                                    hid_t creation) const {
  make_groups_of(name);
  const HdfHandle link = link_properties();
  return own(H5Dcreate2(file, name.c_str(), type, space, link, creation, H5P_DEFAULT), H5Dclose,
             "create the data set " + name);
}

HdfHandle Hdf5File::Handles::open(const std::string& name) const {
  return own(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "open the data set " + name);
}

HdfHandle Hdf5File::Handles::open_group(const std::string& name) const {
  return own(H5Gopen2(file, name.c_str(), H5P_DEFAULT), H5Gclose, "open the group " + name);
}

}  // namespace mpitron::io
