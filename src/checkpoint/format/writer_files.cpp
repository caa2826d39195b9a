#include "checkpoint/format/writer_files.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "checkpoint/format/file_structure.h"
#include "checkpoint/format/posix_file.h"
#include "checkpoint/format/seal.h"
#include "utils/error.h"

// The scheme of a file for each writer. Each holds its ranges as plain data sets; the checkpoint's
// own file shows them as whole tensors by HDF5's virtual data sets, so that any HDF5 tool reads it,
// and notes size and seal of each, so that a file of another save is refused.

namespace mpitron::checkpoint {
namespace {

using io::Hdf5File;
using io::VirtualPart;

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

}  // namespace mpitron::checkpoint
