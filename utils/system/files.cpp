#include "utils/system/files.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/error.h"
#include "utils/system/faults.h"

namespace mpitron {
namespace {

[[noreturn]] void fail_to(const char* action, const std::filesystem::path& path) {
  throw_data("{}: cannot {}: {}", path.string(), action, std::strerror(errno));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    fail_to("open", path);
  }
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || S_ISDIR(info.st_mode)) {
    ::close(descriptor);
    errno = S_ISDIR(info.st_mode) ? EISDIR : errno;
    fail_to("read", path);
  }
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ > 0) {
    data_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
  }
  ::close(descriptor);
  if (data_ == MAP_FAILED) {
    data_ = nullptr;
    fail_to("map", path);
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
