#include "checkpoint/format/writer_files.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "checkpoint/format/file_structure.h"
#include "checkpoint/format/on_all_cores.h"
#include "checkpoint/format/posix_file.h"
#include "checkpoint/format/seal.h"
#include "io/hdf5/hdf5_types.h"
#include "utils/error.h"

// The scheme of a file for each writer. Each holds its ranges as plain data sets; the checkpoint's
// own file shows them as whole tensors by HDF5's virtual data sets, so that any HDF5 tool reads it,
// and notes size and seal of each, so that a file of another save is refused.

namespace mpitron::checkpoint {
namespace {

using io::Hdf5File;
using io::VirtualPart;

constexpr const char* kDataSetsName = "integrity/data_sets";
constexpr const char* kWritersName = "integrity/writers";
constexpr const char* kRangesName = "integrity/ranges";
const io::TableFields kWriterFields = {"writer", "bytes", "seal_high", "seal_low"};
const io::TableFields kRangeFields = {"data_set", "begin", "end", "file", "offset"};

std::uint64_t word(Index value) {
  return static_cast<std::uint64_t>(value);
}

/// Writes two tables of words: size and seal of each writer's file, and where each range lies.
void write_tables(Hdf5File& file, std::span<const WriterPart> parts) {
  std::vector<std::uint64_t> writers, ranges;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const WriterPart& part = parts[i];
    writers.insert(writers.end(),
                   {word(part.writer), word(part.bytes), part.seal.high, part.seal.low});
    for (const PlacedRange& range : part.ranges) {
      ranges.insert(ranges.end(), {word(range.data_set), word(range.begin), word(range.end), i,
                                   word(range.offset)});
    }
  }
  file.write_table(kWritersName, kWriterFields, writers);
  file.write_table(kRangesName, kRangeFields, ranges);
}

/// Lists the data sets in lines "f32 2 37 4 model/embedding.word_embeddings.weight" (type, rank,
/// shape, name). HDF5 may crash on damaged virtual data sets, so readers do not open them, and read
/// these lines.
std::string to_lines(std::span<const DataSet> data_sets) {
  std::string lines;
  for (const DataSet& data_set : data_sets) {
    MPITRON_CHECK(data_set.name.find('\n') == std::string::npos, data_set.name);
    lines += fmt::format("{} {} ", name_of(data_set.dtype), data_set.shape.rank());
    for (int i = 0; i < data_set.shape.rank(); ++i) {
      lines += fmt::format("{} ", data_set.shape[i]);
    }
    lines += data_set.name + "\n";
  }
  return lines;
}

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

/// Returns the parts of each data set that a writer's file has, in a row.
std::map<Index, std::vector<VirtualPart>> virtual_parts(const WriterPart& part,
                                                        std::span<const DataSet> data_sets) {
  std::map<Index, std::vector<VirtualPart>> result;
  std::map<Index, Index> elements;
  for (const PlacedRange& range : part.ranges) {
    const auto size =
        static_cast<Index>(size_of(data_sets[static_cast<std::size_t>(range.data_set)].dtype));
    Index& before = elements[range.data_set];
    result[range.data_set].push_back({.file = writer_file({}, part.writer).string(),
                                      .begin = range.begin / size,
                                      .end = range.end / size,
                                      .source_begin = before});
    before += range.bytes() / size;
  }
  for (auto& [data_set, its_parts] : result) {
    for (VirtualPart& its_part : its_parts) {
      its_part.source_elements = elements[data_set];
    }
  }
  return result;
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

std::filesystem::path writer_file(const std::filesystem::path& checkpoint, Index writer) {
  return checkpoint.parent_path() / fmt::format("writer_{:05d}.h5", writer);
}

void WriterPart::identify(const std::filesystem::path& path) {
  const PosixFile file(path, PosixFile::Mode::read);
  bytes = file.size();
  seal = hash_bytes(file, bytes - Seal::kBytes, Seal::kBytes);
}

/// A writer's ranges of one data set become one plain data set of one dimension, in their order.
void create_writer_file(const std::filesystem::path& path, Index writer,
                        std::span<const DataSet> data_sets, std::vector<PlacedRange>& ranges) {
  std::map<Index, DataSet> own;  // by place among all
  for (PlacedRange& range : ranges) {
    DataSet whole = data_sets[static_cast<std::size_t>(range.data_set)];
    const auto size = static_cast<Index>(size_of(whole.dtype));
    whole.shape = {0};
    DataSet& rows = own.try_emplace(range.data_set, std::move(whole)).first->second;
    range.offset = rows.bytes();  // in the row; the row's place comes later
    rows.shape[0] += range.bytes() / size;
  }
  std::vector<DataSet> rows;
  for (const auto& [place, data_set] : own) {
    rows.push_back(data_set);
  }
  rows = allocate_file(path, std::move(rows), [writer](Hdf5File& file) {
    file.set_attributes("/", {{"schema_version", kFilePerWriterSchema},
                              {kWriterAttribute, writer},
                              {"complete", Index{0}}});
    file.create_group("integrity");
  });
  std::size_t row = 0;
  for (auto& [place, data_set] : own) {
    data_set.offset = rows[row++].offset;
  }
  for (PlacedRange& range : ranges) {
    range.offset += own.at(range.data_set).offset;
  }
}

/// Writes the checkpoint's own file last, when all writers' files are complete; each data set must
/// be covered exactly once.
void write_view(const std::filesystem::path& path, const Header& header,
                std::span<const DataSet> data_sets, std::span<const WriterPart> parts) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  std::vector<std::vector<VirtualPart>> by_data_set(data_sets.size());
  for (const WriterPart& part : parts) {
    for (const auto& [data_set, its_parts] : virtual_parts(part, data_sets)) {
      auto& all = by_data_set[static_cast<std::size_t>(data_set)];
      all.insert(all.end(), its_parts.begin(), its_parts.end());
    }
  }
  {
    Hdf5File file(path, Hdf5File::Mode::create);
    write_header(file, header, true);
    for (std::size_t i = 0; i < data_sets.size(); ++i) {
      std::vector<VirtualPart>& its_parts = by_data_set[i];
      std::sort(its_parts.begin(), its_parts.end(),
                [](const VirtualPart& a, const VirtualPart& b) { return a.begin < b.begin; });
      Index covered = 0;
      for (const VirtualPart& part : its_parts) {
        MPITRON_CHECK(part.begin == covered, data_sets[i].name, part.begin, covered);
        covered = part.end;
      }
      MPITRON_CHECK(covered == data_sets[i].shape.numel(), data_sets[i].name, covered);
      check_name(data_sets[i].name);
      MPITRON_CHECK(i == 0 || data_sets[i - 1].name < data_sets[i].name, data_sets[i].name);
      file.create_virtual_data_set(data_sets[i], its_parts);
    }
    file.write_bytes(kDataSetsName, to_lines(data_sets));
    write_tables(file, parts);
    file.close();
  }
  append_seal(path, kFilePerWriterSchema, {}, 0);
}

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
