#pragma once
#include <csignal>

#include <sys/resource.h>

namespace mpitron::test {

/// While it lives, no file of this process can grow beyond so many bytes: writes fail as on a full
/// disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    is_emptied();
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

  void is_emptied() const { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

}  // namespace mpitron::test
