#include "checkpoint/format/file_structure.h"

#include <algorithm>

#include "checkpoint/format/posix_file.h"
#include "utils/error.h"

// Structure of a checkpoint's file beside tensors: the schema, counters, texts, embedded files, and
// which ranges of the file the extents cover. docs/checkpoint-format.md is the description for
// other programs.

namespace mpitron::checkpoint {
namespace {

using io::Attributes;
using io::Hdf5File;

/// Returns whether HDF5 takes each part of the path literally, and the first is not a reserved
/// group.
bool valid_name(const std::string& name) {
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = std::string_view(name).substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != part.npos ||
        (begin == 0 && std::find(kReserved.begin(), kReserved.end(), part) != kReserved.end())) {
      return false;
    }
    begin = end + 1;
  }
  return true;
}

/// Returns the attribute of this name and type; Error(data) where it is missing or has another
/// type.
template <class T>
T take(const Attributes& attributes, const std::string& name, const std::string& path) {
  const auto found = attributes.find(name);
  if (found == attributes.end() || !std::holds_alternative<T>(found->second)) {
    throw_data("{}: the attribute {} is missing or of another type", path, name);
  }
  return std::get<T>(found->second);
}

/// Returns the ranges in order, touching ones as one, so that equal coverage compares equal.
Coverage joined(Coverage ranges) {
  std::sort(ranges.begin(), ranges.end());
  Coverage result;
  for (const auto& range : ranges) {
    if (range.first == range.second) {
      continue;
    }
    if (!result.empty() && result.back().second == range.first) {
      result.back().second = range.second;
    } else {
      result.push_back(range);
    }
  }
  return result;
}

}  // namespace

std::vector<DataSet> allocate_file(const std::filesystem::path& path,
                                   std::vector<DataSet> data_sets,
                                   const std::function<void(Hdf5File&)>& describe) {
  // A file that is replaced by truncation is flushed at its close by ext4: seconds.
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  Index end = 0;
  for (const DataSet& data_set : data_sets) {
    end += data_set.bytes();
  }
  // After a failed write HDF5 crashes at the end of the program: whether there is room is asked
  // without it.
  check_room(path, end);
  {
    Hdf5File file(path, Hdf5File::Mode::create);
    describe(file);
    for (DataSet& data_set : data_sets) {
      check_name(data_set.name);
      data_set.offset = file.create_data_set(data_set);
      end = std::max(end, data_set.offset + data_set.bytes());
    }
    file.close();
  }
  PosixFile(path, PosixFile::Mode::modify).reserve(end);
  return data_sets;
}

void write_header(Hdf5File& file, const Header& header, bool complete) {
  file.set_attributes("/", {{"schema_version", header.schema_version},
                            {"iteration", header.iteration},
                            {"consumed_train_samples", header.consumed_train_samples},
                            {"configuration", header.configuration},
                            {"layout", header.layout},
                            {"build", header.build},
                            {"complete", Index{complete}}});
  for (const std::string_view group : kReserved) {
    file.create_group(std::string(group));
  }
  Attributes state(header.integers.begin(), header.integers.end());
  state.insert(header.reals.begin(), header.reals.end());
  state.insert(header.texts.begin(), header.texts.end());
  MPITRON_CHECK(state.size() == header.integers.size() + header.reals.size() + header.texts.size());
  file.set_attributes("state", state);
  for (const auto& [name, bytes] : header.files) {
    check_name("x/" + name);
    file.write_bytes("files/" + name, bytes);
  }
}

Header read_header(const Hdf5File& file, const std::string& path) {
  const Attributes root = file.attributes("/");
  if (root.contains(kWriterAttribute)) {
    throw_data("{}: is what one rank wrote of a checkpoint; the whole is checkpoint.h5 beside it",
               path);
  }
  if (take<Index>(root, "complete", path) != 1) {
    throw_data("{}: is not marked complete", path);
  }
  Header header{.schema_version = take<Index>(root, "schema_version", path),
                .iteration = take<Index>(root, "iteration", path),
                .consumed_train_samples = take<Index>(root, "consumed_train_samples", path),
                .configuration = take<std::string>(root, "configuration", path),
                .layout = take<std::string>(root, "layout", path),
                .build = take<std::string>(root, "build", path)};
  for (const auto& [name, value] : file.attributes("state")) {
    if (const auto* integer = std::get_if<Index>(&value)) {
      header.integers.emplace(name, *integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      header.reals.emplace(name, *real);
    } else {
      header.texts.emplace(name, std::get<std::string>(value));
    }
  }
  for (const std::string& name : file.names_below("files")) {
    header.files.emplace(name, file.read_bytes("files/" + name));
  }
  return header;
}

void check_name(const std::string& name) {
  MPITRON_CHECK(valid_name(name), name);
}

Coverage coverage_of(const std::vector<Extent>& extents) {
  Coverage ranges;
  for (const Extent& extent : extents) {
    ranges.emplace_back(extent.offset, extent.offset + extent.bytes);
  }
  return joined(std::move(ranges));
}

Coverage coverage_of(const std::vector<DataSet>& data_sets) {
  Coverage ranges;
  for (const DataSet& data_set : data_sets) {
    ranges.emplace_back(data_set.offset, data_set.offset + data_set.bytes());
  }
  return joined(std::move(ranges));
}

}  // namespace mpitron::checkpoint
