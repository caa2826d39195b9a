#include "checkpoint/folder_lock.h"

#include <array>
#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "checkpoint/posix_file.h"
#include "utils/error.h"
#include "utils/host_name.h"

namespace mpitron::checkpoint {
namespace {

std::string this_process() {
  return fmt::format("host {}, process {}", host_name(), ::getpid());
}

// What the holder wrote; nothing in the moment before it does.
std::string holder(int descriptor) {
  std::array<char, 512> text{};
  const ssize_t n = ::pread(descriptor, text.data(), text.size(), 0);
  return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : "another process";
}

}  // namespace

// The file stays when the lock goes: removing it would race with whoever is about to lock it.
FolderLock::FolderLock(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw_system_error(folder, "create the folder of --save", failed.value());
  }
  const std::filesystem::path file = folder / ".mpitron.lock";
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    throw_system_error(file, "write into the folder of --save: create", errno);
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const std::string who = holder(descriptor_);
    ::close(descriptor_);
    // Where a file system has no locks, runs go on without this protection.
    descriptor_ = -1;
    if (error == EWOULDBLOCK) {
      throw_data(
          "--save {}: another job saves there ({}): wait for its end or choose another folder",
          folder.string(), who);
    }
    return;
  }
  const std::string text = this_process();
  if (::ftruncate(descriptor_, 0) != 0 ||
      ::pwrite(descriptor_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    const int error = errno;
    ::close(descriptor_);
    throw_system_error(file, "write", error);
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

}  // namespace mpitron::checkpoint
