#pragma once
#include <filesystem>
#include <span>
#include <vector>

#include "checkpoint/format/file.h"
#include "checkpoint/format/placed_range.h"
#include "checkpoint/format/stored_bytes.h"
#include "io/hdf5/hdf5_file.h"

// Schema 2 (docs/checkpoint-format.md): each writer has a file of its own with what it wrote of
// each data set in a row, and one small file shows them all as one.

namespace mpitron::checkpoint {

/// Returns `writer_00003.h5` beside the checkpoint's file.
std::filesystem::path writer_file(const std::filesystem::path& checkpoint, Index writer);

/// A complete writer's file: which it is, and what it holds.
struct WriterPart {
  Index writer = 0;
  Index bytes = 0;
  Hash128 seal;                     // of its last bytes, which vouch for all others
  std::vector<PlacedRange> ranges;  // by data set and begin

  /// Takes size and seal as they are in the file.
  void identify(const std::filesystem::path& path);
};

/// Creates a writer's file with room for its ranges, and gives them their offsets. Error(data).
void create_writer_file(const std::filesystem::path& path, Index writer,
                        std::span<const DataSet> data_sets, std::vector<PlacedRange>& ranges);

/// Writes and seals the file that shows all parts as whole data sets; MPITRON_CHECKs that they are.
void write_view(const std::filesystem::path& path, const Header& header,
                std::span<const DataSet> data_sets, std::span<const WriterPart> parts);

/// Returns the data sets that a view shows, by name, without offsets. Error(data).
std::vector<DataSet> read_viewed_data_sets(const io::Hdf5File& view,
                                           const std::filesystem::path& path);

/// Places of the data of a view.
struct WriterFiles {
  Storage storage;
  std::vector<Extent> extents;  // by offset in the storage
};
/// Opens every writer's file and checks all but its data. `data_sets` lie one after another in the
/// storage. Error(data) names the file that is missing, damaged or of another checkpoint.
WriterFiles read_writer_files(const io::Hdf5File& view, const std::filesystem::path& path,
                              const std::vector<DataSet>& data_sets);

/// Names and fields of the tables that describe several writers' files.
inline constexpr const char* kDataSetsName = "integrity/data_sets";

/// One row a writer.
inline constexpr const char* kWritersName = "integrity/writers";

/// One row a range of bytes.
inline constexpr const char* kRangesName = "integrity/ranges";

/// Columns of a writer.
inline const io::TableFields kWriterFields = {"writer", "bytes", "seal_high", "seal_low"};

/// Columns of a range.
inline const io::TableFields kRangeFields = {"data_set", "begin", "end", "file", "offset"};

}  // namespace mpitron::checkpoint
