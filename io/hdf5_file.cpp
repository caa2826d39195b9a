#include "io/hdf5_file.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <hdf5.h>

#include "io/flat_boxes.h"
#include "utils/error.h"

namespace mpitron::io {
namespace {

// Nothing a checkpoint holds as one attribute or file comes near these; a damaged size does.
constexpr hsize_t kLargestAttribute = hsize_t{64} << 20;
constexpr Index kLargestBytes = Index{1} << 32;
constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr hsize_t kAlignment = 4096;

std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// An identifier of HDF5 and the function that gives it back.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0 && close_ != nullptr) {
      close_(id_);
    }
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }

  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): what HDF5 takes
  herr_t close() { return close_(std::exchange(id_, -1)); }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// The innermost entry of HDF5's error stack: the cause.
std::string reason() {
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
  return text.empty() ? "no reason given" : text;
}

Handle half_type(std::size_t sign, std::size_t exponent, std::size_t exponent_bits,
                 std::size_t bias) {
  Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(type, sign, exponent, exponent_bits, 0, exponent);
  H5Tset_precision(type, 16);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, bias);
  return type;
}

Handle file_type(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return half_type(15, 7, 8, 127);
    case DType::f16:
      return half_type(15, 10, 5, 15);
    case DType::f32:
      return {H5Tcopy(H5T_IEEE_F32LE), H5Tclose};
    case DType::f64:
      return {H5Tcopy(H5T_IEEE_F64LE), H5Tclose};
    case DType::u8:
      return {H5Tcopy(H5T_STD_U8LE), H5Tclose};
    case DType::i8:
      return {H5Tcopy(H5T_STD_I8LE), H5Tclose};
    case DType::u16:
      return {H5Tcopy(H5T_STD_U16LE), H5Tclose};
    case DType::i16:
      return {H5Tcopy(H5T_STD_I16LE), H5Tclose};
    case DType::i32:
      return {H5Tcopy(H5T_STD_I32LE), H5Tclose};
    case DType::i64:
      return {H5Tcopy(H5T_STD_I64LE), H5Tclose};
  }
  return {-1, nullptr};
}

constexpr DType kDTypes[] = {DType::f32, DType::bf16, DType::f16, DType::f64, DType::u8,
                             DType::i8,  DType::u16,  DType::i16, DType::i32, DType::i64};

Handle text_type(std::size_t size) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, std::max<std::size_t>(size, 1));  // HDF5 has no empty ones
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

Handle access_properties() {
  Handle properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(properties, H5F_LIBVER_V18, H5F_LIBVER_V110);
  H5Pset_alignment(properties, 1, kAlignment);
  H5Pset_small_data_block_size(properties, 0);
  H5Pset_fclose_degree(properties, H5F_CLOSE_STRONG);
  // Locks fail on network file systems, and the folder's own lock serves their purpose.
  H5Pset_file_locking(properties, false, true);
  return properties;
}

// Times would make files of equal contents differ; only the root group still has one.
Handle untimed(hid_t property_class) {
  Handle properties(H5Pcreate(property_class), H5Pclose);
  H5Pset_obj_track_times(properties, false);
  return properties;
}

Handle link_properties() {
  Handle properties(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_char_encoding(properties, H5T_CSET_UTF8);
  return properties;
}

using HdfExtents = std::array<hsize_t, Shape::kMaxRank>;

HdfExtents hdf_extents(const Shape& shape) {
  HdfExtents extents{};
  for (int i = 0; i < shape.rank(); ++i) {
    extents[static_cast<std::size_t>(i)] = static_cast<hsize_t>(shape[i]);
  }
  return extents;
}

Handle table_type(const TableFields& fields) {
  Handle type(H5Tcreate(H5T_COMPOUND, fields.size() * kWord), H5Tclose);
  std::size_t place = 0;
  for (const char* field : fields) {
    H5Tinsert(type, field, place, H5T_STD_U64LE);
    place += kWord;
  }
  return type;
}

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

struct Hdf5File::Handles {
  std::unique_lock<std::mutex> lock;
  std::filesystem::path path;
  Handle file = {-1, nullptr};

  template <class T>
  T check(T result, const std::string& action) const {
    if (result < 0) {
      throw_data("{}: cannot {}: HDF5 says: {}", path.string(), action, reason());
    }
    return result;
  }
  Handle own(hid_t id, herr_t (*close)(hid_t), const std::string& action) const {
    return {check(id, action), close};
  }

  /// Makes the groups that `path` lies in. HDF5 would do so by itself, but note the time.
  void make_groups_of(const std::string& path) const;
  Handle create(const std::string& name, hid_t type, const Shape& shape) const;
  Handle create(const std::string& name, hid_t type, hid_t space, hid_t creation) const;
  Handle space(const std::string& name, const Shape& shape) const;
  Handle open(const std::string& name) const;
  Handle open_group(const std::string& name) const;
  Index offset(hid_t data_set, const std::string& name) const;
  Shape shape(hid_t data_set, const std::string& name) const;
  DType dtype(hid_t data_set, const std::string& name) const;
  DataSet describe(const std::string& name) const;
  Attribute attribute(hid_t group, const std::string& name) const;
};

void Hdf5File::Handles::make_groups_of(const std::string& path) const {
  const Handle creation = untimed(H5P_GROUP_CREATE);
  const Handle link = link_properties();
  for (auto end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
    const std::string group = path.substr(0, end);
    if (check(H5Lexists(file, group.c_str(), H5P_DEFAULT), "look for the group " + group) == 0) {
      own(H5Gcreate2(file, group.c_str(), link, creation, H5P_DEFAULT), H5Gclose,
          "create the group " + group);
    }
  }
}

Handle Hdf5File::Handles::space(const std::string& name, const Shape& shape) const {
  const HdfExtents extents = hdf_extents(shape);
  return own(shape.rank() == 0 ? H5Screate(H5S_SCALAR)
                               : H5Screate_simple(shape.rank(), extents.data(), nullptr),
             H5Sclose, "give a shape to " + name);
}

Handle Hdf5File::Handles::create(const std::string& name, hid_t type, const Shape& shape) const {
  const Handle creation = untimed(H5P_DATASET_CREATE);
  H5Pset_layout(creation, H5D_CONTIGUOUS);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  return create(name, type, space(name, shape), creation);
}

Handle Hdf5File::Handles::create(const std::string& name, hid_t type, hid_t space,
                                 hid_t creation) const {
  make_groups_of(name);
  const Handle link = link_properties();
  return own(H5Dcreate2(file, name.c_str(), type, space, link, creation, H5P_DEFAULT), H5Dclose,
             "create the data set " + name);
}

Handle Hdf5File::Handles::open(const std::string& name) const {
  return own(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "open the data set " + name);
}

Handle Hdf5File::Handles::open_group(const std::string& name) const {
  return own(H5Gopen2(file, name.c_str(), H5P_DEFAULT), H5Gclose, "open the group " + name);
}

Index Hdf5File::Handles::offset(hid_t data_set, const std::string& name) const {
  const Handle properties = own(H5Dget_create_plist(data_set), H5Pclose, "inspect " + name);
  const Handle space = own(H5Dget_space(data_set), H5Sclose, "inspect " + name);
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
  const Handle space = own(H5Dget_space(data_set), H5Sclose, "inspect " + name);
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
  const Handle type = own(H5Dget_type(data_set), H5Tclose, "inspect " + name);
  for (const DType dtype : kDTypes) {
    if (H5Tequal(type, file_type(dtype)) > 0) {
      return dtype;
    }
  }
  throw_data("{}: the data set {} has a type that no file of ours has", path.string(), name);
}

DataSet Hdf5File::Handles::describe(const std::string& name) const {
  const Handle data_set = open(name);
  return {.name = name,
          .shape = shape(data_set, name),
          .dtype = dtype(data_set, name),
          .offset = offset(data_set, name)};
}

Attribute Hdf5File::Handles::attribute(hid_t group, const std::string& name) const {
  const std::string action = "read the attribute " + name;
  const Handle id = own(H5Aopen(group, name.c_str(), H5P_DEFAULT), H5Aclose, action);
  const Handle type = own(H5Aget_type(id), H5Tclose, action);
  const Handle space = own(H5Aget_space(id), H5Sclose, action);
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

Hdf5File::Hdf5File(const std::filesystem::path& path, Mode mode)
    : handles_(new Handles{.lock = std::unique_lock(library_mutex()), .path = path}) {
  // HDF5's own end of program would touch what a failed close (a full disk) left behind, and crash.
  [[maybe_unused]] static const herr_t no_exit_handler = H5dont_atexit();
  handles_->check(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), "silence HDF5");
  const Handle access = access_properties();
  if (mode == Mode::create) {
    const Handle creation = untimed(H5P_FILE_CREATE);
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
  const Handle id = handles_->create(data_set.name, file_type(data_set.dtype), data_set.shape);
  return handles_->offset(id, data_set.name);
}

Index Hdf5File::write_bytes(const std::string& name, std::string_view bytes) {
  const Handle id = handles_->create(name, H5T_STD_U8LE, {static_cast<Index>(bytes.size())});
  if (!bytes.empty()) {
    handles_->check(H5Dwrite(id, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()),
                    "write the data set " + name);
  }
  return handles_->offset(id, name);
}

void Hdf5File::create_virtual_data_set(const DataSet& data_set,
                                       std::span<const VirtualPart> parts) {
  const std::string& name = data_set.name;
  const Handle space = handles_->space(name, data_set.shape);
  const Handle creation = untimed(H5P_DATASET_CREATE);
  H5Pset_layout(creation, H5D_VIRTUAL);
  for (const VirtualPart& part : parts) {
    const Handle source = handles_->space(name, {part.source_elements});
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
  handles_->create(name, file_type(data_set.dtype), space, creation);
}

Index Hdf5File::write_table(const std::string& name, const TableFields& fields,
                            std::span<const std::uint64_t> words) {
  const Handle type = table_type(fields);
  const Handle id =
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

std::vector<std::uint64_t> Hdf5File::read_table(const std::string& name,
                                                const TableFields& fields) const {
  const Handle id = handles_->open(name);
  const Handle type = table_type(fields);
  const Handle stored = handles_->own(H5Dget_type(id), H5Tclose, "inspect " + name);
  const Shape shape = handles_->shape(id, name);
  if (H5Tequal(stored, type) <= 0 || shape.rank() != 1 ||
      shape[0] > kLargestBytes / static_cast<Index>(fields.size() * kWord)) {
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
  const Handle id = handles_->open_group(group);
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

void Hdf5File::create_group(const std::string& group) {
  handles_->make_groups_of(group + "/");
}

void Hdf5File::set_attributes(const std::string& group, const Attributes& attributes) {
  const Handle id = handles_->open_group(group);
  const Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
  for (const auto& [name, value] : attributes) {
    const auto write = [&, &name = name](hid_t type, const void* data) {
      const std::string action = "write the attribute " + name;
      if (handles_->check(H5Aexists(id, name.c_str()), action) > 0) {
        handles_->check(H5Adelete(id, name.c_str()), action);
      }
      const Handle attribute = handles_->own(
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

Attributes Hdf5File::attributes(const std::string& group) const {
  const Handle id = handles_->open_group(group);
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
