#include "checkpoint/file.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "checkpoint/posix_file.h"
#include "checkpoint/seal.h"
#include "io/hdf5_file.h"
#include "utils/error.h"

namespace mpitron::checkpoint {
namespace {

using io::Attributes;
using io::Hdf5File;

// Groups beside those of the data sets: embedded files, counters and texts, hashes.
constexpr std::array<std::string_view, 3> kReserved = {"files", "state", "integrity"};
const char* const kExtentsName = "integrity/extents";

/// Bytes [begin, end) of the file; touching ones joined, so that equal coverage compares equal.
using Range = std::pair<Index, Index>;

template <class Items>
std::vector<Range> joined(const Items& items) {
  std::vector<Range> ranges;
  for (const auto& item : items) {
    Index bytes = 0;
    if constexpr (requires { item.shape; }) {
      bytes = item.bytes();
    } else {
      bytes = item.bytes;
    }
    if (bytes > 0) {
      ranges.emplace_back(item.offset, item.offset + bytes);
    }
  }
  std::sort(ranges.begin(), ranges.end());
  std::vector<Range> result;
  for (const Range& range : ranges) {
    if (!result.empty() && result.back().second == range.first) {
      result.back().second = range.second;
    } else {
      result.push_back(range);
    }
  }
  return result;
}

// A path from the root group that HDF5 takes literally and that is nobody else's.
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

Attributes root_attributes(const Header& header) {
  return {{"schema_version", header.schema_version},
          {"iteration", header.iteration},
          {"consumed_train_samples", header.consumed_train_samples},
          {"configuration", header.configuration},
          {"layout", header.layout},
          {"build", header.build},
          {"complete", Index{0}}};
}

template <class T>
T take(const Attributes& attributes, const std::string& name, const std::string& path) {
  const auto found = attributes.find(name);
  if (found == attributes.end() || !std::holds_alternative<T>(found->second)) {
    throw_data("{}: the attribute {} is missing or of another type", path, name);
  }
  return std::get<T>(found->second);
}

Header read_header(const Hdf5File& file, const std::string& path) {
  const Attributes root = file.attributes("/");
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

// Sizes come from the file: their product must not overflow, and must lie within it.
void check_place(const DataSet& data_set, Index end, const std::string& path) {
  Index bytes = static_cast<Index>(size_of(data_set.dtype));
  bool inside = data_set.offset >= 0;
  for (int i = 0; i < data_set.shape.rank() && inside; ++i) {
    inside = data_set.shape[i] >= 0 && !__builtin_mul_overflow(bytes, data_set.shape[i], &bytes);
  }
  if (!inside || bytes > end || data_set.offset > end - bytes) {
    throw_data("{}: the data set {} lies outside of the file", path, data_set.name);
  }
}

}  // namespace

std::vector<DataSet> create_file(const std::filesystem::path& path, const Header& header,
                                 std::vector<DataSet> data_sets) {
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
    file.set_attributes("/", root_attributes(header));
    for (const std::string_view group : kReserved) {
      file.create_group(std::string(group));
    }
    Attributes state(header.integers.begin(), header.integers.end());
    state.insert(header.reals.begin(), header.reals.end());
    state.insert(header.texts.begin(), header.texts.end());
    MPITRON_CHECK(state.size() ==
                  header.integers.size() + header.reals.size() + header.texts.size());
    file.set_attributes("state", state);
    for (const auto& [name, bytes] : header.files) {
      MPITRON_CHECK(valid_name("x/" + name), name);
      file.write_bytes("files/" + name, bytes);
    }
    for (DataSet& data_set : data_sets) {
      MPITRON_CHECK(valid_name(data_set.name), data_set.name);
      data_set.offset = file.create_data_set(data_set);
      end = std::max(end, data_set.offset + data_set.bytes());
    }
    file.close();
  }
  PosixFile(path, PosixFile::Mode::modify).reserve(end);
  return data_sets;
}

void seal_file(const std::filesystem::path& path, std::vector<Extent> extents) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  Seal seal{.extents = static_cast<Index>(extents.size())};
  {
    Hdf5File file(path, Hdf5File::Mode::modify);
    MPITRON_CHECK(joined(extents) == joined(file.data_sets(kReserved)), path.string());
    seal.extents_offset = file.write_extents(kExtentsName, extents);
    file.set_attributes("/", {{"complete", Index{1}}});
    file.close();
  }
  PosixFile file(path, PosixFile::Mode::modify);
  seal.hdf5_bytes = file.size();
  seal.metadata = hash_metadata(file, extents, seal.hdf5_bytes);
  // The seal vouches for the bytes before it, so it may not reach the disk before them.
  file.sync();
  file.write(seal.hdf5_bytes, seal.encode().data(), Seal::kBytes);
  file.sync();
}

File::File(const std::filesystem::path& path) : path_(path) {
  const PosixFile plain(path, PosixFile::Mode::read);
  SealedExtents sealed = check_seal(plain);
  const Hdf5File file(path, Hdf5File::Mode::read);
  header_ = read_header(file, path.string());
  data_sets_ = file.data_sets(kReserved);
  for (const DataSet& data_set : data_sets_) {
    check_place(data_set, sealed.seal.hdf5_bytes, path.string());
  }
  extents_ = std::move(sealed.extents);
  if (joined(extents_) != joined(data_sets_)) {
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
