#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "checkpoint/format/posix_file.h"
#include "utils/numbers/shape.h"
#include "utils/text/hash.h"

namespace mpitron::checkpoint {

/// A stretch [begin, begin + bytes) of a checkpoint, together in one of its files.
struct StoredRange {
  Index begin = 0, bytes = 0;
  Index file = 0;
  Index offset = 0;  // in the file

  bool operator==(const StoredRange&) const = default;
};

/// The files of a checkpoint as one row of bytes: the one in which its data sets and extents have
/// their offsets.
struct Storage {
  std::vector<std::filesystem::path> files;
  std::vector<StoredRange> ranges;  // by begin, none twice

  /// Returns the range that holds a byte of a data set.
  const StoredRange& at(Index offset) const;
  bool operator==(const Storage&) const = default;
};

/// Reads a checkpoint's bytes from whatever files they lie in; from several threads. Files are
/// opened when they are needed. Error(data) names the file.
class StoredBytes {
 public:
  explicit StoredBytes(Storage storage) : storage_(std::move(storage)) {}

  /// Reads bytes that may lie in several ranges.
  void read(Index offset, void* data, Index bytes) const;
  /// Hashes bytes that lie in one range.
  Hash128 hash(Index offset, Index bytes) const;

 private:
  std::shared_ptr<const PosixFile> open(Index file) const;
  /// Calls visit(file, offset in it, bytes) for each file's part, in order.
  template <class Visit>
  void for_each_part(Index offset, Index bytes, Visit&& visit) const;

  const Storage storage_;
  mutable std::mutex mutex_;
  mutable std::map<Index, std::shared_ptr<const PosixFile>> open_;
};

}  // namespace mpitron::checkpoint
