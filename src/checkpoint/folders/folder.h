#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/format/file.h"

namespace mpitron::checkpoint {

/// A folder of checkpoints as a run sees it: `iter_0000123/checkpoint.h5` for each, and the tracker
/// `latest_checkpointed_iteration.txt`. Used by one process (rank 0).
///
/// A save is a two-phase commit: everything is written under a temporary name
/// (`iter_0000123.tmp/`), sealed and synced, then renamed, the folder synced, and at last the
/// tracker replaced. So a folder of the final name is complete whatever crashes.
class Folder {
 public:
  explicit Folder(std::filesystem::path root) : root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }
  /// Returns the file of a complete checkpoint, and of one that is being written.
  std::filesystem::path file(Index iteration) const;
  std::filesystem::path unfinished_file(Index iteration) const;
  /// Makes the temporary folder, replacing what a crash left there.
  void begin(Index iteration) const;
  /// Brings a finished save to the disk, to its name, and into the tracker.
  void commit(Index iteration) const;
  /// Brings a finished save to the disk and to its name, over an older one of the same iteration;
  /// the tracker stays.
  void put(Index iteration) const;

  /// Returns the iterations of all checkpoints of a final name, ascending.
  std::vector<Index> iterations() const;
  /// Returns the iteration in the tracker; none without a tracker. A checkpoint without iteration
  /// ("release") is -1. Error(data) for other text.
  std::optional<Index> tracked() const;
  /// Returns the iterations up to `newest` but for the last `kept` of them, and but for a
  /// checkpoint without iteration.
  std::vector<Index> before_last(Index kept, Index newest) const;
  /// Returns those of `older` that may be changed: no symbolic link, and none of the folder leads
  /// to them. Somebody who has given a checkpoint a name means to keep it as it is.
  std::vector<Index> unnamed(const std::vector<Index>& older) const;

 private:
  std::filesystem::path root_;
};

/// Returns why a checkpoint file cannot be used, as a sentence that names it; an empty text where
/// every byte is as it was written.
std::string reason_against(const std::filesystem::path& file);

/// Rules for the checkpoints that a run keeps besides the newest.
struct Retention {
  std::optional<Index> retain_interval;  // --save-retain-interval: multiples are kept
  std::optional<Index> keep_last;        // the newest N
};

/// Deletes what need not be kept, oldest first; `newest` must have been verified. Checkpoints that
/// are symbolic links stay. Returns the deleted iterations.
std::vector<Index> apply_retention(const Folder& folder, const Retention& retention, Index newest);

/// Returns the file of this iteration; Error(data) names those that are there where it is not.
std::filesystem::path existing_file(const Folder& folder, Index iteration);

/// Opens the checkpoint of `iteration`, or the newest one that opens, without reading its data: for
/// what its header says. Error(data) where there is none.
File open_newest(const Folder& folder, std::optional<Index> iteration = std::nullopt);

/// Notes beside a checkpoint that a run has read it back and found the bits of its own state.
void record_verified_resume(const Folder& folder, Index iteration, const std::string& build);

}  // namespace mpitron::checkpoint
