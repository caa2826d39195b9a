#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/index/index_cache.h"
#include "utils/error.h"
#include "utils/log.h"

// The lock of who builds an index; it ends with its process.

namespace mpitron::data {
namespace {

/// Waits for the lock; false where the file system has no locks.
bool wait_for(int descriptor, const std::filesystem::path& file) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    return true;
  }
  if (errno == EWOULDBLOCK) {
    log::debug("{}: another process builds this index; waiting for it", file.string());
  }
  int result = 0;
  do {
    result = ::flock(descriptor, LOCK_EX);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

// False where the holder before us removed the file between our open and our lock.
bool still_there(const std::filesystem::path& file, int descriptor) {
  struct stat by_name {};
  struct stat by_descriptor {};
  return ::stat(file.c_str(), &by_name) == 0 && ::fstat(descriptor, &by_descriptor) == 0 &&
         by_name.st_ino == by_descriptor.st_ino && by_name.st_dev == by_descriptor.st_dev;
}

}  // namespace

BuildLock::BuildLock(std::filesystem::path file) : file_(std::move(file)) {
  while (!try_lock()) {
  }
}

/// False when there is a new lock file to wait for.
bool BuildLock::try_lock() {
  const int descriptor = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return true;
  }
  const bool locked = wait_for(descriptor, file_);
  if (locked && still_there(file_, descriptor)) {
    descriptor_ = descriptor;
    return true;
  }
  ::close(descriptor);
  return !locked;
}

BuildLock::~BuildLock() {
  if (descriptor_ >= 0) {
    ::unlink(file_.c_str());
    ::close(descriptor_);
  }
}

}  // namespace mpitron::data
