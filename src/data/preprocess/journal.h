#pragma once
#include <span>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::data {

/// A record of what a long command has finished, so that it can go on after a kill: a text file of
/// entries, each a list of numbers with their hash. An entry is on the disk when `add` returns; one
/// that was cut by a crash is not found again.
class Journal {
 public:
  /// Reads a journal that is there. `identity`: of the command with its inputs; a journal of
  /// another one is not continued. The file appears with the first entry.
  Journal(std::string path, std::string identity);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Returns the last whole entry, of an earlier run or of this one; empty where there is none.
  const std::vector<Index>& last() const { return last_; }
  /// Returns whether the file belongs to another command.
  bool foreign() const { return foreign_; }
  /// Forgets what was read: the next entry begins a new file.
  void forget();
  /// Writes an entry and waits for the disk. Error(data) where it cannot.
  void add(std::span<const Index> entry);
  void remove();

 private:
  void read();

  std::string path_;
  std::string identity_;
  std::vector<Index> last_;
  bool foreign_ = false;
  Index valid_bytes_ = 0;
  int descriptor_ = -1;
};

}  // namespace mpitron::data
