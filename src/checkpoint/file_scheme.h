#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/file.h"
#include "checkpoint/placed_range.h"

namespace mpitron::checkpoint {

/// What a rank's thread writes into.
struct WriterTarget {
  std::filesystem::path path;
  std::vector<PlacedRange> ranges;  // by data set and begin
};

/// How the ranks of one save lay a checkpoint out in files. The four functions are called in this
/// order; texts travel between the ranks. Failures are Error(data) with the file's name.
class FileScheme {
 public:
  virtual ~FileScheme() = default;

  /// On rank 0, when the folder is there: what every rank's `open` is given.
  virtual std::string create() = 0;
  /// On each rank that writes anything, in its thread.
  virtual WriterTarget open(const std::string& created) = 0;
  /// There, when everything is written and on the disk: what `complete` is given. Extents have
  /// their offsets in the target.
  virtual std::string close(std::vector<Extent> extents) = 0;
  /// On rank 0, with the text of every rank, empty where it wrote nothing: the checkpoint is
  /// complete and on the disk on return.
  virtual void complete(const std::vector<std::string>& closed) = 0;
};

/// What a save is about.
struct SaveContents {
  std::filesystem::path path;      // of checkpoint.h5
  Header header;                   // rank 0's counts
  std::vector<DataSet> data_sets;  // by name
};

/// All ranks write into one file (schema 1).
std::unique_ptr<FileScheme> make_shared_file(SaveContents contents);

/// Each rank writes into a file of its own, and rank 0 makes one that shows them as one (schema 2).
/// `own`: what this rank writes, by data set and begin, without offsets.
std::unique_ptr<FileScheme> make_file_per_writer(SaveContents contents, Index rank,
                                                 std::vector<PlacedRange> own);

}  // namespace mpitron::checkpoint
