#pragma once
#include <filesystem>

namespace mpitron::data {

/// While it lives, others that want the same lock, in this process or another one of this machine,
/// wait in its constructor. A help, not a guarantee: where the file system has no locks it is none.
/// It ends with the process, however that ends; the file goes away.
class BuildLock {
 public:
  explicit BuildLock(std::filesystem::path file);
  ~BuildLock();
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

 private:
  bool try_lock();

  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace mpitron::data
