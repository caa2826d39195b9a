#include "data/preprocess/output_lock.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/error.h"

namespace mpitron::data {
namespace {

// False where the holder before us removed the file between our open and our lock.
bool still_there(const std::string& file, int descriptor) {
  struct stat by_name {};
  struct stat by_descriptor {};
  return ::stat(file.c_str(), &by_name) == 0 && ::fstat(descriptor, &by_descriptor) == 0 &&
         by_name.st_ino == by_descriptor.st_ino && by_name.st_dev == by_descriptor.st_dev;
}

}  // namespace

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

OutputLock::~OutputLock() {
  if (descriptor_ >= 0) {
    ::unlink(file_.c_str());
    ::close(descriptor_);
  }
}

OutputLock::OutputLock(OutputLock&& other) noexcept
    : file_(std::move(other.file_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

}  // namespace mpitron::data
