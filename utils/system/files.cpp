#include "utils/system/files.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <random>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/error.h"
#include "utils/system/faults.h"

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

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    fail(path, "open");
  }
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || S_ISDIR(info.st_mode)) {
    ::close(descriptor);
    errno = S_ISDIR(info.st_mode) ? EISDIR : errno;
    fail(path, "read");
  }
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ > 0) {
    data_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
  }
  ::close(descriptor);
  if (data_ == MAP_FAILED) {
    data_ = nullptr;
    fail(path, "map");
  }
  if (data_ != nullptr) {
    remember_mapping(data_, size_, path_);
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    forget_mapping(data_);
    ::munmap(data_, size_);
  }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      path_(std::move(other.path_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  return *this;
}

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

std::string read_file(const std::filesystem::path& path) {
  const MappedFile file(path);
  return std::string(file.text());
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) {
      return false;
    }
    bytes.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : 0);
  }
  return true;
}

void make_folder(std::string_view option, const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw_data("{} {}: cannot make the folder: {}", option, folder.string(), failed.message());
  }
}

}  // namespace mpitron
