#include <algorithm>
#include <mutex>
#include <optional>
#include <sstream>

#include "checkpoint/format/on_all_cores.h"
#include "checkpoint/format/posix_file.h"
#include "checkpoint/format/seal.h"
#include "checkpoint/format/writer_files.h"
#include "io/hdf5/hdf5_types.h"
#include "utils/error.h"

// Reads a checkpoint that several files hold as if one held it.

namespace mpitron::checkpoint {
namespace {

using io::Hdf5File;

/// Reads such a line; none where it is another.
std::optional<DataSet> from_line(const std::string& line) {
  std::istringstream words(line);
  std::string type;
  int rank = -1;
  words >> type >> rank;
  const auto dtype = std::ranges::find(io::kDTypes, type, [](DType d) { return name_of(d); });
  if (dtype == std::end(io::kDTypes) || rank < 0 || rank > Shape::kMaxRank) {
    return std::nullopt;
  }
  DataSet data_set{.name = {}, .shape = {}, .dtype = *dtype};
  for (Index extent = 0; data_set.shape.rank() < rank && words >> extent;) {
    data_set.shape.push_back(extent);
  }
  words.get();
  std::getline(words, data_set.name);
  return words && data_set.shape.rank() == rank ? std::optional(data_set) : std::nullopt;
}

/// Reads the tables of a view, and what they say of each writer's file. Every number comes from the
/// file and is checked.
class ViewReader {
 public:
  ViewReader(const Hdf5File& view, const std::filesystem::path& path,
             const std::vector<DataSet>& data_sets)
      : path_(path), data_sets_(data_sets) {
    read_writers(view.read_table(kWritersName, kWriterFields));
    read_ranges(view.read_table(kRangesName, kRangeFields));
  }

  WriterFiles open() {
    on_all_cores(static_cast<Index>(parts_.size()),
                 [this](Index i) { add_extents(static_cast<std::size_t>(i)); });
    std::sort(result_.extents.begin(), result_.extents.end(),
              [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
    return std::move(result_);
  }

 private:
  /// Reads what size and seal each writer's file had when the view was written.
  void read_writers(const std::vector<std::uint64_t>& words) {
    for (std::size_t i = 0; i < words.size(); i += kWriterFields.size()) {
      const auto writer = static_cast<Index>(words[i]);
      if (writer < 0 || static_cast<Index>(words[i + 1]) < 0) {
        throw_damaged(kWritersName);
      }
      parts_.push_back({.writer = writer,
                        .bytes = static_cast<Index>(words[i + 1]),
                        .seal = {.high = words[i + 2], .low = words[i + 3]},
                        .ranges = {}});
      result_.storage.files.push_back(writer_file(path_, writer));
    }
  }

  /// Checks that ranges lie in their data sets and files, and cover the whole storage without gap
  /// or overlap.
  void read_ranges(const std::vector<std::uint64_t>& words) {
    std::vector<StoredRange>& ranges = result_.storage.ranges;
    by_file_.resize(parts_.size());
    for (std::size_t i = 0; i < words.size(); i += kRangeFields.size()) {
      const std::uint64_t data_set = words[i], file = words[i + 3];
      const auto begin = static_cast<Index>(words[i + 1]), end = static_cast<Index>(words[i + 2]);
      const auto offset = static_cast<Index>(words[i + 4]);
      if (data_set >= data_sets_.size() || file >= parts_.size() || begin < 0 || end <= begin ||
          end > data_sets_[data_set].bytes() || offset < 0 || end - begin > parts_[file].bytes ||
          offset > parts_[file].bytes - (end - begin)) {
        throw_damaged(kRangesName);
      }
      ranges.push_back({.begin = data_sets_[data_set].offset + begin,
                        .bytes = end - begin,
                        .file = static_cast<Index>(file),
                        .offset = offset});
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const StoredRange& a, const StoredRange& b) { return a.begin < b.begin; });
    Index covered = 0;
    for (const StoredRange& range : ranges) {
      if (range.begin != covered) {
        throw_damaged(kRangesName);
      }
      covered += range.bytes;
      by_file_[static_cast<std::size_t>(range.file)].push_back(range);
    }
  }

  /// Checks a writer's file and translates its extents to offsets in the storage.
  void add_extents(std::size_t i) {
    const std::filesystem::path& path = result_.storage.files[i];
    const PosixFile plain(path, PosixFile::Mode::read);
    const SealedExtents sealed = check_seal(plain);
    WriterPart found;
    found.identify(path);
    if (found.bytes != parts_[i].bytes || found.seal != parts_[i].seal) {
      throw_data("{}: belongs to another checkpoint than {}", path.string(), path_.string());
    }
    std::vector<StoredRange>& own = by_file_[i];
    std::sort(own.begin(), own.end(),
              [](const StoredRange& a, const StoredRange& b) { return a.offset < b.offset; });
    std::vector<Extent> extents = sealed.extents;
    for (Extent& extent : extents) {
      const auto behind = std::partition_point(
          own.begin(), own.end(),
          [&](const StoredRange& range) { return range.offset <= extent.offset; });
      const auto holds = behind == own.begin() ? own.end() : std::prev(behind);
      if (holds == own.end() || extent.offset + extent.bytes > holds->offset + holds->bytes) {
        throw_data("{}: the extents do not lie in what it holds of data sets", path.string());
      }
      extent.offset = holds->begin + (extent.offset - holds->offset);
    }
    const std::lock_guard lock(mutex_);
    result_.extents.insert(result_.extents.end(), extents.begin(), extents.end());
  }

  [[noreturn]] void throw_damaged(const std::string& table) const {
    throw_data("{}: the table {} is damaged", path_.string(), table);
  }

  const std::filesystem::path path_;
  const std::vector<DataSet>& data_sets_;
  std::vector<WriterPart> parts_;  // without their ranges
  std::vector<std::vector<StoredRange>> by_file_;
  std::mutex mutex_;
  WriterFiles result_;
};

}  // namespace

std::vector<DataSet> read_viewed_data_sets(const Hdf5File& view,
                                           const std::filesystem::path& path) {
  std::vector<DataSet> data_sets;
  std::istringstream lines(view.read_bytes(kDataSetsName));
  for (std::string line; std::getline(lines, line);) {
    std::optional<DataSet> data_set = from_line(line);
    if (!data_set || (!data_sets.empty() && data_set->name <= data_sets.back().name)) {
      throw_data("{}: the list {} is damaged", path.string(), kDataSetsName);
    }
    data_sets.push_back(std::move(*data_set));
  }
  return data_sets;
}

WriterFiles read_writer_files(const Hdf5File& view, const std::filesystem::path& path,
                              const std::vector<DataSet>& data_sets) {
  return ViewReader(view, path, data_sets).open();
}

}  // namespace mpitron::checkpoint
