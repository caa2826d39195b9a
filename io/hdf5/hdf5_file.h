#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "utils/numbers/dtype.h"
#include "utils/numbers/shape.h"
#include "utils/system/machine.h"
#include "utils/text/hash.h"

namespace mpitron::io {

/// An array in an HDF5 file: contiguous, row-major, little-endian.
struct DataSet {
  std::string name;  // path from the root group: "model/decoder.layers.0.mlp.linear_fc1.weight"
  Shape shape;
  DType dtype = DType::f32;
  Index offset = 0;  // of its first byte in the file

  Index bytes() const { return shape.numel() * static_cast<Index>(size_of(dtype)); }
  bool operator==(const DataSet&) const = default;
};

/// Bytes of a file that were written in one go, and their hash.
struct Extent {
  Index offset = 0;  // in the file
  Index bytes = 0;
  Hash128 hash;

  bool operator==(const Extent&) const = default;
};

/// Elements [begin, end) of a virtual data set, flat: those from `source_begin` on of a row of
/// `source_elements` in another file of the same folder.
struct VirtualPart {
  std::string file;
  Index begin = 0, end = 0;
  Index source_begin = 0, source_elements = 0;
};

/// Names of a table's columns.
using TableFields = std::vector<const char*>;

using Attribute = std::variant<Index, double, std::string>;
using Attributes = std::map<std::string, Attribute>;

/// An open HDF5 file: the only place where HDF5 is called, without MPI. HDF5 is not thread-safe, so
/// one thread at a time has files open: another's waits until the last of them ends. A file ends in
/// the thread that opened it.
/// Failures are Error(data) with the file's name and HDF5's own reason.
class Hdf5File {
 public:
  enum class Mode { create, modify, read };

  Hdf5File(const std::filesystem::path& path, Mode mode);
  ~Hdf5File();

  /// Room for a data set without writing it: contiguous, allocated now. Returns its offset in the
  /// file, a multiple of 4096; 0 for one without elements.
  Index create_data_set(const DataSet& data_set);
  /// A data set of bytes; returns its offset.
  Index write_bytes(const std::string& name, std::string_view bytes);
  /// Shows `parts` of data sets of the same name in other files as one data set; together they are
  /// all of it, each element once.
  void create_virtual_data_set(const DataSet& data_set, std::span<const VirtualPart> parts);
  /// A table of records of one 64-bit word for each field: all words, record by record. Returns its
  /// offset.
  Index write_table(const std::string& name, const TableFields& fields,
                    std::span<const std::uint64_t> words);
  /// The table of extents: {offset, bytes, hash_high, hash_low}; returns its offset.
  Index write_extents(const std::string& name, std::span<const Extent> extents);
  std::vector<std::uint64_t> read_table(const std::string& name, const TableFields& fields) const;
  /// All data sets of the file, by name, but for those of `skipped` groups ("files").
  std::vector<DataSet> data_sets(std::span<const std::string_view> skipped) const;
  /// Names of the data sets below a group, relative to it.
  std::vector<std::string> names_below(const std::string& group) const;
  std::string read_bytes(const std::string& name) const;

  void create_group(const std::string& group);
  /// Writes attributes, replacing those of the same names.
  void set_attributes(const std::string& group, const Attributes& attributes);
  Attributes attributes(const std::string& group) const;

  /// Writes what HDF5 still holds: the destructor does too, but cannot report failures.
  void close();

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

LibraryVersion hdf5_version();

/// Error(environment) that names `what` needs HDF5 where this program was built without it: asked
/// before the work whose result only an HDF5 file can hold.
void require_hdf5(const std::string& what);

}  // namespace mpitron::io
