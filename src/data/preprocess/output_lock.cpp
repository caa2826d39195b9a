#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/preprocess/preprocess_output.h"
#include "utils/error.h"

// The lock of who writes a corpus; it ends with its process.

namespace mpitron::data {
namespace {

/// Returns false where the holder before us removed the file between our open and our lock.
bool still_there(const std::string& file, int descriptor) {
  struct stat by_name {};
  struct stat by_descriptor {};
  return ::stat(file.c_str(), &by_name) == 0 && ::fstat(descriptor, &by_descriptor) == 0 &&
         by_name.st_ino == by_descriptor.st_ino && by_name.st_dev == by_descriptor.st_dev;
}

}  // namespace

/// Locks PATH.lock, or throws Error(data) where another process holds it. The lock is advisory, and
/// ends with the process, even a killed one.
OutputLock::OutputLock(const std::string& path) : file_(path + ".lock") {
  while (descriptor_ < 0) {
    const int descriptor = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      throw_data("--output-prefix: cannot create {}: {}", file_, std::strerror(errno));
    }
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      const bool held = errno == EWOULDBLOCK;
      const std::string reason = std::strerror(errno);
      ::close(descriptor);
      throw_data("--output-prefix: {}: {}", path,
                 held ? "another run is writing these files; wait for it or choose another prefix"
                      : reason);
    }
    if (still_there(file_, descriptor)) {
      descriptor_ = descriptor;
    } else {
      ::close(descriptor);
    }
  }
}

/// Removes the file before the lock ends, so that nobody locks a file that is about to go.
OutputLock::~OutputLock() {
  if (descriptor_ >= 0) {
    ::unlink(file_.c_str());
    ::close(descriptor_);
  }
}

OutputLock::OutputLock(OutputLock&& other) noexcept
    : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

}  // namespace mpitron::data
