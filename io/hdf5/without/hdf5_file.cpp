#include "io/hdf5/hdf5_file.h"

#include <cstdlib>

#include "utils/error.h"

namespace mpitron::io {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  require_hdf5(what);
  std::abort();  // it has thrown
}

}  // namespace

// Nobody holds an open file: the constructor throws.
struct Hdf5File::Handles {};

Hdf5File::Hdf5File(const std::filesystem::path& path, Mode) {
  refuse(path.string());
}
Hdf5File::~Hdf5File() = default;

Index Hdf5File::create_data_set(const DataSet& data_set) {
  refuse(data_set.name);
}
Index Hdf5File::write_bytes(const std::string& name, std::string_view) {
  refuse(name);
}
void Hdf5File::create_virtual_data_set(const DataSet& data_set, std::span<const VirtualPart>) {
  refuse(data_set.name);
}
Index Hdf5File::write_table(const std::string& name, const TableFields&,
                            std::span<const std::uint64_t>) {
  refuse(name);
}
Index Hdf5File::write_extents(const std::string& name, std::span<const Extent>) {
  refuse(name);
}
std::vector<std::uint64_t> Hdf5File::read_table(const std::string& name, const TableFields&) const {
  refuse(name);
}
std::vector<DataSet> Hdf5File::data_sets(std::span<const std::string_view>) const {
  refuse("data sets");
}
std::vector<std::string> Hdf5File::names_below(const std::string& group) const {
  refuse(group);
}
std::string Hdf5File::read_bytes(const std::string& name) const {
  refuse(name);
}
void Hdf5File::create_group(const std::string& group) {
  refuse(group);
}
void Hdf5File::set_attributes(const std::string& group, const Attributes&) {
  refuse(group);
}
Attributes Hdf5File::attributes(const std::string& group) const {
  refuse(group);
}
void Hdf5File::close() {}

LibraryVersion hdf5_version() {
  return {"HDF5", "left out", ""};
}

void require_hdf5(const std::string& what) {
  throw_environment(
      "{}: this program was built without HDF5: install it (Debian: libhdf5-openmpi-dev) and build "
      "again, or train without --save and --load",
      what);
}

}  // namespace mpitron::io
