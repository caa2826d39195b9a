// The only place that knows zlib.
#include <algorithm>
#include <vector>

#include <zlib.h>

#include "io/compressed/byte_source.h"
#include "utils/error.h"

namespace mpitron::io {
namespace {

constexpr std::size_t kInflatedBlock = std::size_t{256} << 10;
constexpr int kGzipWindow = 15 + 16;  // the largest window; gzip's header, not zlib's

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> compressed, std::string name)
      : compressed_(std::move(compressed)), name_(std::move(name)), block_(kInflatedBlock) {
    if (::inflateInit2(&stream_, kGzipWindow) != Z_OK) {
      throw_environment("{}: zlib cannot start: out of memory", name_);
    }
  }
  ~GzipSource() override { ::inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  std::size_t read(char* out, std::size_t bytes) override {
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(bytes, kInflatedBlock));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      if (stream_.avail_in == 0 && !refill()) {
        if (in_member_) {
          fail("ends in the middle of its gzip data; it was cut");
        }
        return 0;
      }
      if (!in_member_ && !begin_member()) {
        continue;
      }
      inflate_some();
    }
    return wanted - stream_.avail_out;
  }

 private:
  bool refill() {
    const std::size_t n = compressed_->read(block_.data(), block_.size());
    consumed_ += static_cast<Index>(n);
    stream_.next_in = reinterpret_cast<Bytef*>(block_.data());
    stream_.avail_in = static_cast<uInt>(n);
    return n > 0;
  }

  // False where only zeros are left of the block: tapes and some tools pad with them.
  bool begin_member() {
    while (stream_.avail_in > 0 && *stream_.next_in == 0 && members_ > 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) {
      return false;
    }
    ::inflateReset(&stream_);
    ++members_;
    return in_member_ = true;
  }

  void inflate_some() {
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      in_member_ = false;
    } else if (code == Z_MEM_ERROR) {
      throw_environment("{}: zlib: out of memory", name_);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      fail(stream_.msg != nullptr ? stream_.msg : "holds damaged gzip data");
    }
  }

  [[noreturn]] void fail(const char* what) const {
    throw_data(
        "{}: {} (byte {} of the compressed file); copy or download it again, test it with: "
        "gzip -t {}",
        name_, what, consumed_ - static_cast<Index>(stream_.avail_in), name_);
  }

  std::unique_ptr<ByteSource> compressed_;
  std::string name_;
  std::vector<char> block_;
  z_stream stream_{};
  bool in_member_ = false;
  Index members_ = 0;
  Index consumed_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> compressed, std::string name) {
  return std::make_unique<GzipSource>(std::move(compressed), std::move(name));
}

}  // namespace mpitron::io
