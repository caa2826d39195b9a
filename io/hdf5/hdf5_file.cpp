#include "io/hdf5/hdf5_file.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <hdf5.h>

#include "io/hdf5/flat_boxes.h"
#include "io/hdf5/hdf5_handles.h"

// The only place that opens HDF5 files. What HDF5 would decide by itself is decided here:
// contiguous data sets on whole pages, no times, versions of the format that HDF5 1.8 and 1.10
// read.

namespace mpitron::io {
namespace {

constexpr hsize_t kFileAlignment = 4096;

/// Recursive: a thread that compares two files has both open.
std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

HdfHandle access_properties() {
  HdfHandle properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(properties, H5F_LIBVER_V18, H5F_LIBVER_V110);
  H5Pset_alignment(properties, 1, kFileAlignment);
  H5Pset_small_data_block_size(properties, 0);
  H5Pset_fclose_degree(properties, H5F_CLOSE_STRONG);
  // Locks fail on network file systems, and the folder's own lock serves their purpose.
  H5Pset_file_locking(properties, false, true);
  return properties;
}

}  // namespace

Hdf5File::Hdf5File(const std::filesystem::path& path, Mode mode)
    : handles_(new Handles{.lock = std::unique_lock(library_mutex()), .path = path}) {
  // HDF5's own end of program would touch what a failed close (a full disk) left behind, and crash.
  [[maybe_unused]] static const herr_t no_exit_handler = H5dont_atexit();
  handles_->check(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), "silence HDF5");
  const HdfHandle access = access_properties();
  if (mode == Mode::create) {
    const HdfHandle creation = untimed(H5P_FILE_CREATE);
    // Nothing is freed in these files; managing the gaps of alignment takes quadratic time.
    H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_NONE, false, 1);
    handles_->file = handles_->own(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access),
                                   H5Fclose, "create the file");
  } else {
    const unsigned flags = mode == Mode::read ? H5F_ACC_RDONLY : H5F_ACC_RDWR;
    handles_->file = handles_->own(H5Fopen(path.c_str(), flags, access), H5Fclose, "open the file");
  }
}

Hdf5File::~Hdf5File() = default;

void Hdf5File::close() {
  handles_->check(handles_->file.close(), "write the file's end");
}

Index Hdf5File::create_data_set(const DataSet& data_set) {
  const HdfHandle id = handles_->create(data_set.name, hdf_type(data_set.dtype), data_set.shape);
  return handles_->offset(id, data_set.name);
}

Index Hdf5File::write_bytes(const std::string& name, std::string_view bytes) {
  const HdfHandle id = handles_->create(name, H5T_STD_U8LE, {static_cast<Index>(bytes.size())});
  if (!bytes.empty()) {
    handles_->check(H5Dwrite(id, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()),
                    "write the data set " + name);
  }
  return handles_->offset(id, name);
}

void Hdf5File::create_virtual_data_set(const DataSet& data_set,
                                       std::span<const VirtualPart> parts) {
  const std::string& name = data_set.name;
  const HdfHandle space = handles_->space(name, data_set.shape);
  const HdfHandle creation = untimed(H5P_DATASET_CREATE);
  H5Pset_layout(creation, H5D_VIRTUAL);
  for (const VirtualPart& part : parts) {
    const HdfHandle source = handles_->space(name, {part.source_elements});
    auto from = static_cast<hsize_t>(part.source_begin);
    for (const Box& box : flat_boxes(data_set.shape, part.begin, part.end)) {
      const HdfExtents start = hdf_extents(box.start), count = hdf_extents(box.count);
      const auto elements = static_cast<hsize_t>(box.count.numel());
      if (data_set.shape.rank() > 0) {
        handles_->check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr,
                                            count.data(), nullptr),
                        "select a part of " + name);
      }
      handles_->check(
          H5Sselect_hyperslab(source, H5S_SELECT_SET, &from, nullptr, &elements, nullptr),
          "select a part of " + name);
      handles_->check(H5Pset_virtual(creation, space, part.file.c_str(), name.c_str(), source),
                      "place a part of " + name);
      from += elements;
    }
  }
  H5Sselect_all(space);
  handles_->create(name, hdf_type(data_set.dtype), space, creation);
}

Index Hdf5File::write_table(const std::string& name, const TableFields& fields,
                            std::span<const std::uint64_t> words) {
  const HdfHandle type = table_type(fields);
  const HdfHandle id =
      handles_->create(name, type, {static_cast<Index>(words.size() / fields.size())});
  if (!words.empty()) {
    handles_->check(H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, words.data()),
                    "write the data set " + name);
  }
  return handles_->offset(id, name);
}

Index Hdf5File::write_extents(const std::string& name, std::span<const Extent> extents) {
  std::vector<std::uint64_t> words;
  for (const Extent& extent : extents) {
    words.insert(words.end(),
                 {static_cast<std::uint64_t>(extent.offset),
                  static_cast<std::uint64_t>(extent.bytes), extent.hash.high, extent.hash.low});
  }
  return write_table(name, {"offset", "bytes", "hash_high", "hash_low"}, words);
}

void Hdf5File::create_group(const std::string& group) {
  handles_->make_groups_of(group + "/");
}

void Hdf5File::set_attributes(const std::string& group, const Attributes& attributes) {
  const HdfHandle id = handles_->open_group(group);
  const HdfHandle scalar(H5Screate(H5S_SCALAR), H5Sclose);
  for (const auto& [name, value] : attributes) {
    const auto write = [&, &name = name](hid_t type, const void* data) {
      const std::string action = "write the attribute " + name;
      if (handles_->check(H5Aexists(id, name.c_str()), action) > 0) {
        handles_->check(H5Adelete(id, name.c_str()), action);
      }
      const HdfHandle attribute = handles_->own(
          H5Acreate2(id, name.c_str(), type, scalar, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, action);
      handles_->check(H5Awrite(attribute, type, data), action);
    };
    if (const auto* text = std::get_if<std::string>(&value)) {
      MPITRON_CHECK(text->find('\0') == std::string::npos, name);
      write(text_type(text->size()), text->c_str());
    } else if (const auto* real = std::get_if<double>(&value)) {
      write(H5T_IEEE_F64LE, real);
    } else {
      write(H5T_STD_I64LE, &std::get<Index>(value));
    }
  }
}

LibraryVersion hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return {"HDF5", fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE),
          fmt::format("{}.{}.{}", major, minor, release)};
}

void require_hdf5(const std::string& /*what*/) {}

}  // namespace mpitron::io
