#include "io/compressed/byte_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/error.h"

// Sources by what a file begins with: gzip (several members), zstd (several frames), or the bytes
// as they are. A stream that ends early is an error with the position in the compressed file.

namespace mpitron::io {
namespace {

constexpr std::string_view kGzip("\x1f\x8b", 2);
constexpr std::string_view kZstd("\x28\xb5\x2f\xfd", 4);
constexpr std::string_view kXz(
    "\xfd"
    "7zXZ",
    5);
constexpr std::string_view kBzip2("BZh", 3);
constexpr std::size_t kHead = 5;
constexpr int kAskedEveryMs = 100;  // a signal may have reached another thread than the waiting one

// A file or a pipe whose first bytes have been looked at.
class DescriptorSource : public ByteSource {
 public:
  // Opening does not wait for a pipe's writer: that is left to the reading, which can be stopped.
  DescriptorSource(const std::string& file, const std::function<bool()>& stop)
      : file_(file),
        stop_(stop),
        descriptor_(file == "-" ? ::dup(STDIN_FILENO)
                                : ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) {
      throw_data("--input {}: cannot open: {}", file, std::strerror(errno));
    }
    struct stat info {};
    waits_ = ::fstat(descriptor_, &info) == 0 && !S_ISREG(info.st_mode);
    ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);  // the kernel reads farther ahead
    while (head_.size() < kHead) {
      std::array<char, kHead> bytes{};
      const std::size_t n = read_some(bytes.data(), kHead - head_.size());
      if (n == 0) {
        break;
      }
      head_.append(bytes.data(), n);
    }
  }
  ~DescriptorSource() override { ::close(descriptor_); }
  DescriptorSource(const DescriptorSource&) = delete;
  DescriptorSource& operator=(const DescriptorSource&) = delete;

  bool begins_with(std::string_view magic) const { return head_.starts_with(magic); }

  std::size_t read(char* out, std::size_t bytes) override {
    if (head_.empty()) {
      return read_some(out, bytes);
    }
    const std::size_t n = head_.copy(out, bytes);
    head_.erase(0, n);
    return waits_ || n == bytes ? n : n + read_some(out + n, bytes - n);
  }

  void skip(Index bytes) override {
    const Index of_head = std::min(bytes, static_cast<Index>(head_.size()));
    head_.erase(0, static_cast<std::size_t>(of_head));
    if (::lseek(descriptor_, bytes - of_head, SEEK_CUR) < 0) {
      ByteSource::skip(bytes - of_head);  // a pipe
    }
  }

 private:
  // False where the input was stopped before anything came.
  bool something_to_read() const {
    while (waits_) {
      pollfd input{.fd = descriptor_, .events = POLLIN, .revents = 0};
      const int ready = ::poll(&input, 1, stop_ ? kAskedEveryMs : -1);
      if (ready > 0 || (ready < 0 && errno != EINTR)) {
        break;  // a writer that has gone is ready too: reading says that it ends
      }
      if (stop_ && stop_()) {
        return false;
      }
    }
    return true;
  }

  std::size_t read_some(char* out, std::size_t bytes) const {
    ssize_t n = 0;
    do {
      n = something_to_read() ? ::read(descriptor_, out, bytes) : 0;
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    if (n < 0) {
      throw_data("--input {}: cannot read: {}", file_, std::strerror(errno));
    }
    return static_cast<std::size_t>(n);
  }

  std::string file_;
  std::function<bool()> stop_;
  int descriptor_;
  bool waits_ = false;  // a pipe or a terminal
  std::string head_;
};

void refuse(const std::string& file, std::string_view format, std::string_view program) {
  throw_data(
      "--input {}: {} data are not read directly (gzip and zstd are); use: {} {} | mpitron ... "
      "--input -",
      file, format, program, file);
}

}  // namespace

void ByteSource::skip(Index bytes) {
  std::array<char, std::size_t{1} << 16> unwanted{};
  while (bytes > 0) {
    const std::size_t n = read(
        unwanted.data(), static_cast<std::size_t>(std::min<Index>(bytes, std::ssize(unwanted))));
    if (n == 0) {
      throw_data("the input ends {} bytes before the place where reading goes on", bytes);
    }
    bytes -= static_cast<Index>(n);
  }
}

bool names_compressed(const std::string& file) {
  return file.ends_with(".gz") || file.ends_with(".zst");
}

std::unique_ptr<ByteSource> open_source(const std::string& file,
                                        const std::function<bool()>& stop) {
  auto source = std::make_unique<DescriptorSource>(file, stop);
  if (source->begins_with(kGzip)) {
    return gunzip(std::move(source), file);
  }
  if (source->begins_with(kZstd)) {
    return unzstd(std::move(source), file);
  }
  if (source->begins_with(kXz)) {
    refuse(file, "xz", "xzcat");
  }
  if (source->begins_with(kBzip2)) {
    refuse(file, "bzip2", "bzcat");
  }
  if (names_compressed(file)) {
    throw_data("--input {}: the name ends in {}, but the content is not of that format", file,
               file.substr(file.rfind('.')));
  }
  return source;
}

}  // namespace mpitron::io
