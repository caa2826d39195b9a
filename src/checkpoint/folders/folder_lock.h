#pragma once
#include <filesystem>

namespace mpitron::checkpoint {

/// A lock of a folder of checkpoints: holds `.mpitron.lock` while a run saves there, so that two
/// jobs cannot mix their checkpoints. It ends with the process, however that ends.
class FolderLock {
 public:
  /// Makes the folder if need be. Error(data) where it cannot be written, or another process holds
  /// the lock: it names that one's host and process.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace mpitron::checkpoint
