#include "checkpoint/folders/folder_lock.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "checkpoint/format/posix_file.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/machine.h"

// The lock of a folder that a run saves into: an advisory lock of the system on a file that also
// says who holds it. The system drops it with the process, so nothing has to be cleaned up after a
// crash.

namespace mpitron::checkpoint {
namespace {

/// Returns host and process number, for the message of whoever comes later.
std::string this_process() {
  return fmt::format("host {}, process {}", host_name(), ::getpid());
}

/// Returns what the holder wrote; "another process" in the moment before it does.
std::string holder(int descriptor) {
  std::array<char, 512> text{};
  const ssize_t n = ::pread(descriptor, text.data(), text.size(), 0);
  return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : "another process";
}

/// Returns whether this is NAME.0123abcd.tmp, as AtomicFile writes it, or iter_0000005.tmp.
bool is_unfinished(const std::filesystem::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  if (!name.ends_with(".tmp")) {
    return false;
  }
  if (entry.is_directory()) {
    return name.starts_with("iter_");
  }
  constexpr std::size_t kDigits = 8, kEnding = 4;
  return name.size() > kDigits + kEnding + 1 && name[name.size() - kDigits - kEnding - 1] == '.' &&
         name.find_first_not_of("0123456789abcdef", name.size() - kDigits - kEnding) ==
             name.size() - kEnding;
}

/// Removes what killed runs have left. Nobody else writes here while the lock is held.
void remove_unfinished(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (is_unfinished(entry)) {
      std::filesystem::remove_all(entry.path(), ignored);
    }
  }
}

}  // namespace

/// Takes the lock. The file stays when the lock goes: removing it would race with whoever is about
/// to lock it.
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
    log::warning(
        "--save {}: this file system has no locks ({}): see to it that no other job saves there",
        folder.string(), std::strerror(error));
    return;
  }
  const std::string text = this_process();
  if (::ftruncate(descriptor_, 0) != 0 ||
      ::pwrite(descriptor_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    const int error = errno;
    ::close(descriptor_);
    throw_system_error(file, "write", error);
  }
  remove_unfinished(folder);
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

}  // namespace mpitron::checkpoint
