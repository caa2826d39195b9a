#pragma once
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "utils/error.h"
#include "utils/numbers/shape.h"
#include "utils/system/files.h"

namespace mpitron::io {

/// A file that grows under a name of its own; messages name the file that it is to become.
class GrowingFile {
 public:
  GrowingFile(std::string path, std::string becomes, Index bytes)
      : path_(std::move(path)), becomes_(std::move(becomes)) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      fail("create");
    }
    const Index held = ::lseek(descriptor_, 0, SEEK_END);
    if (held < bytes) {
      ::close(descriptor_);
      throw_data(
          "{}: holds {} bytes, but the journal says {}; delete the .part files and run again",
          path_, held, bytes);
    }
    if (::ftruncate(descriptor_, bytes) != 0 || ::lseek(descriptor_, bytes, SEEK_SET) < 0) {
      ::close(descriptor_);
      fail("cut");
    }
    buffer_.reserve(kBuffer);
  }
  ~GrowingFile() { close(); }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  void write(const void* data, std::size_t bytes) {
    if (buffer_.size() + bytes > kBuffer || bytes >= kDirect) {
      flush();
    }
    const std::string_view text(static_cast<const char*>(data), bytes);
    if (bytes >= kDirect) {
      write_through(text);
    } else {
      buffer_.append(text);
    }
  }

  void flush() {
    write_through(buffer_);
    buffer_.clear();
  }

  void sync() {
    flush();
    if (::fdatasync(descriptor_) != 0) {
      fail("flush");
    }
  }

  /// Calls `use(std::span<const T>)` with the content, piece by piece.
  template <class T, class Use>
  void for_each_piece(const Use& use) {
    flush();
    std::vector<T> piece(kBuffer / sizeof(T));
    for (off_t at = 0;;) {
      const std::size_t bytes = read_at(at, piece.data(), kBuffer);
      if (bytes == 0) {
        return;
      }
      use(std::span<const T>(piece.data(), bytes / sizeof(T)));
      at += static_cast<off_t>(bytes);
    }
  }

  void rename_to(const std::string& path) {
    close();
    if (::rename(path_.c_str(), path.c_str()) != 0) {
      fail("rename");
    }
  }

  void remove() {
    close();
    ::unlink(path_.c_str());
  }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 20;
  static constexpr std::size_t kDirect = std::size_t{1} << 16;  // written from where it lies

  void close() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
      descriptor_ = -1;
    }
  }

  // Fewer than `bytes` only at the end.
  std::size_t read_at(off_t at, void* out, std::size_t bytes) const {
    std::size_t got = 0;
    while (got < bytes) {
      const ssize_t n = ::pread(descriptor_, static_cast<char*>(out) + got, bytes - got,
                                at + static_cast<off_t>(got));
      if (n < 0 && errno != EINTR) {
        fail("read");
      }
      if (n == 0) {
        break;
      }
      got += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    return got;
  }

  void write_through(std::string_view bytes) const {
    if (!write_all(descriptor_, bytes)) {
      fail("write");
    }
  }

  [[noreturn]] void fail(const char* action) const {
    throw_data("{}: cannot {}: {} ({}); free space there or choose another place and run again",
               becomes_, action, std::strerror(errno), path_);
  }

  std::string path_;
  std::string becomes_;
  int descriptor_ = -1;
  std::string buffer_;
};

}  // namespace mpitron::io
