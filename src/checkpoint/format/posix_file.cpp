#include "checkpoint/format/posix_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/error.h"

// Files by plain system calls, and messages that say what to do where the system's error tells it.

namespace mpitron::checkpoint {
namespace {

/// Largest read or write: the kernel moves at most 2 GiB less a page in one call.
constexpr Index kLargestCall = Index{1} << 30;

const char* advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; older checkpoints are untouched: free space there, keep fewer checkpoints "
             "(--save-retain-interval) or choose another --save";
    case EFBIG:
      return "; raise the limit on file sizes (ulimit -f)";
    case EROFS:
    case EACCES:
    case EPERM:
      return "; change its permissions or choose another folder";
    default:
      return "";
  }
}

}  // namespace

void throw_system_error(const std::filesystem::path& path, const std::string& action, int error) {
  throw_data("{}: cannot {}: {}{}", path.string(), action, std::strerror(error), advice(error));
}

PosixFile::PosixFile(const std::filesystem::path& path, Mode mode) : path_(path) {
  descriptor_ = ::open(path.c_str(), (mode == Mode::read ? O_RDONLY : O_RDWR) | O_CLOEXEC);
  if (descriptor_ < 0) {
    throw_system_error(path, "open", errno);
  }
  struct stat info {};
  if (::fstat(descriptor_, &info) == 0 && !S_ISREG(info.st_mode)) {
    ::close(descriptor_);
    throw_data("{}: is no regular file", path.string());
  }
}

PosixFile::~PosixFile() {
  ::close(descriptor_);
}

Index PosixFile::size() const {
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0) {
    throw_system_error(path_, "read", errno);
  }
  return info.st_size;
}

void PosixFile::read(Index offset, void* data, Index bytes) const {
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n =
        ::pread(descriptor_, to, static_cast<std::size_t>(std::min(bytes, kLargestCall)), offset);
    if (n < 0 && errno != EINTR) {
      throw_system_error(path_, "read", errno);
    }
    if (n == 0) {
      throw_data("{}: ends at byte {}, but {} more bytes are needed there: it is truncated",
                 path_.string(), offset, bytes);
    }
    if (n > 0) {
      to += n;
      offset += n;
      bytes -= n;
    }
  }
}

void PosixFile::begin_read(Index offset, Index bytes) const {
  ::posix_fadvise(descriptor_, offset, bytes, POSIX_FADV_WILLNEED);
}

void PosixFile::write(Index offset, const void* data, Index bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::pwrite(descriptor_, from,
                               static_cast<std::size_t>(std::min(bytes, kLargestCall)), offset);
    if (n < 0 && errno != EINTR) {
      throw_system_error(path_, "write", errno);
    }
    if (n > 0) {
      from += n;
      offset += n;
      bytes -= n;
    }
  }
}

/// File systems that cannot reserve say so by several errors; a full one is told.
void PosixFile::reserve(Index bytes) {
  if (bytes > 0 && ::fallocate(descriptor_, 0, 0, bytes) != 0 && errno != EOPNOTSUPP &&
      errno != ENOSYS && errno != EINVAL) {
    throw_system_error(path_, "reserve " + std::to_string(bytes) + " bytes", errno);
  }
}

void PosixFile::begin_sync() {
  ::sync_file_range(descriptor_, 0, 0, SYNC_FILE_RANGE_WRITE);  // advice: failures come from sync
}

void PosixFile::sync() {
  if (::fsync(descriptor_) != 0) {
    throw_system_error(path_, "sync", errno);
  }
}

/// Reserves in a file of the same name and removes it: a moment in which another process may take
/// the room is left.
void check_room(const std::filesystem::path& path, Index bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    throw_system_error(path, "create", errno);
  }
  ::close(descriptor);
  std::error_code ignored;
  try {
    PosixFile(path, PosixFile::Mode::modify).reserve(bytes);
  } catch (...) {
    std::filesystem::remove(path, ignored);
    throw;
  }
  std::filesystem::remove(path, ignored);
}

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    throw_system_error(folder, "open", errno);
  }
  const int result = ::fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  // Some network file systems cannot sync folders, and say so.
  if (result != 0 && error != EINVAL && error != ENOTSUP) {
    throw_system_error(folder, "sync", error);
  }
}

void move_into_place(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code failed;
  std::filesystem::rename(from, to, failed);
  if (failed) {
    throw_system_error(to, "rename " + from.string() + " to this", failed.value());
  }
  sync_folder(std::filesystem::absolute(to).parent_path());
}

}  // namespace mpitron::checkpoint
