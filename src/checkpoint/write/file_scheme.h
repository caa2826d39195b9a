#pragma once
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "checkpoint/format/file.h"
#include "checkpoint/format/placed_range.h"

// Plain records as texts, for their way from one rank to another: both are the same program.

namespace mpitron::checkpoint {

/// The file that a rank's thread writes into.
struct WriterTarget {
  std::filesystem::path path;
  std::vector<PlacedRange> ranges;  // by data set and begin
};

/// The way in which the ranks of one save lay a checkpoint out in files. The four functions are
/// called in this order; texts travel between the ranks. Failures are Error(data) with the file's
/// name.
class FileScheme {
 public:
  virtual ~FileScheme() = default;

  /// Called on rank 0, when the folder is there; returns what every rank's `open` is given.
  virtual std::string create() = 0;
  /// Called on each rank that writes anything, in its thread.
  virtual WriterTarget open(const std::string& created) = 0;
  /// Called there, when everything is written and on the disk; returns what `complete` is given.
  /// Extents have their offsets in the target.
  virtual std::string close(std::vector<Extent> extents) = 0;
  /// Called on rank 0, with the text of every rank, empty where it wrote nothing: the checkpoint is
  /// complete and on the disk on return.
  virtual void complete(const std::vector<std::string>& closed) = 0;
};

/// Contents of a save besides the values.
struct SaveContents {
  std::filesystem::path path;      // of checkpoint.h5
  Header header;                   // rank 0's counts
  std::vector<DataSet> data_sets;  // by name
};

/// Returns the scheme in which all ranks write into one file (schema 1).
std::unique_ptr<FileScheme> make_shared_file(SaveContents contents);

/// Returns the scheme in which each rank writes into a file of its own, and rank 0 makes one that
/// shows them as one (schema 2). `own`: what this rank writes, by data set and begin, without
/// offsets.
std::unique_ptr<FileScheme> make_file_per_writer(SaveContents contents, Index rank,
                                                 std::vector<PlacedRange> own);

template <class T>
requires std::is_trivially_copyable_v<T> std::string pack(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
requires std::is_trivially_copyable_v<T> std::vector<T> unpack(std::string_view text) {
  std::vector<T> values(text.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), text.data(), values.size() * sizeof(T));
  }
  return values;
}

}  // namespace mpitron::checkpoint
