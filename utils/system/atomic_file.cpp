#include <cerrno>
#include <cstddef>
#include <cstring>
#include <random>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "utils/error.h"
#include "utils/system/files.h"

// Files that are complete or absent: written under a name of their own, which is changed at the
// end.

namespace mpitron {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;

// Writes of this size go to the kernel as they are: the buffer joins small ones only.
constexpr std::size_t kDirectBytes = std::size_t{64} << 10;

const char* advice() {
  switch (errno) {
    case ENOSPC:
    case EDQUOT:
      return "; the name was left as it was: free space there or choose another place and run "
             "again";
    case EFBIG:
      return "; the name was left as it was: raise the limit on file sizes (ulimit -f) and run "
             "again";
    default:
      return "";
  }
}

[[noreturn]] void fail(const std::filesystem::path& path, const char* action) {
  throw_data("{}: cannot {}: {}{}", path.string(), action, std::strerror(errno), advice());
}

}  // namespace

// The temporary name is this writer's own: two jobs may write one cache file at the same time, and
// the last rename wins.
AtomicFile::AtomicFile(const std::filesystem::path& path)
    : path_(path), temporary_(fmt::format("{}.{:08x}.tmp", path.string(), std::random_device{}())) {
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    fail(path_, "create");
  }
  buffer_.reserve(kBufferBytes);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
  if (!committed_) {
    ::unlink(temporary_.c_str());
  }
}

void AtomicFile::write(const void* data, std::size_t size) {
  if (size >= kDirectBytes) {
    flush();
    write_through({static_cast<const char*>(data), size});
    return;
  }
  buffer_.append(static_cast<const char*>(data), size);
  if (buffer_.size() >= kBufferBytes) {
    flush();
  }
}

void AtomicFile::flush() {
  write_through(buffer_);
  buffer_.clear();
}

void AtomicFile::write_through(std::string_view bytes) {
  if (!write_all(descriptor_, bytes)) {
    fail(path_, "write");
  }
}

void AtomicFile::sync() {
  flush();
  if (::fsync(descriptor_) != 0) {
    fail(path_, "flush");
  }
  synced_ = true;
}

void AtomicFile::commit() {
  if (!synced_) {
    sync();
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    fail(path_, "close");
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    fail(path_, "rename");
  }
  committed_ = true;
}

}  // namespace mpitron
