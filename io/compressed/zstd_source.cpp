// The only place that knows zstd.
#include <vector>

#include <zstd.h>

#include "io/compressed/byte_source.h"
#include "utils/error.h"

namespace mpitron::io {
namespace {

class ZstdSource : public ByteSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> compressed, std::string name)
      : compressed_(std::move(compressed)),
        name_(std::move(name)),
        block_(::ZSTD_DStreamInSize()),
        context_(::ZSTD_createDCtx()) {
    if (!context_) {
      throw_environment("{}: zstd cannot start: out of memory", name_);
    }
    ::ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, 31);  // --long files too
  }

  std::size_t read(char* out, std::size_t bytes) override {
    ZSTD_outBuffer output{out, bytes, 0};
    while (output.pos == 0) {
      // What zstd still holds comes out before more is read.
      if (input_.pos == input_.size && !more_inside_ && !refill()) {
        if (hint_ != 0) {
          fail("ends in the middle of its zstd data; it was cut");
        }
        return 0;
      }
      const std::size_t before = input_.pos;
      const std::size_t code = ::ZSTD_decompressStream(context_.get(), &output, &input_);
      if (::ZSTD_isError(code) != 0) {
        fail(::ZSTD_getErrorName(code));
      }
      // A call that neither takes nor gives only repeats what the last one said.
      hint_ = input_.pos == before && output.pos == 0 ? hint_ : code;
      more_inside_ = output.pos == output.size;
    }
    return output.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ::ZSTD_freeDCtx(context); }
  };

  bool refill() {
    const std::size_t n = compressed_->read(block_.data(), block_.size());
    consumed_ += static_cast<Index>(n);
    input_ = {block_.data(), n, 0};
    return n > 0;
  }

  [[noreturn]] void fail(const char* what) const {
    throw_data(
        "{}: {} (byte {} of the compressed file); copy or download it again, test it with: "
        "zstd -t {}",
        name_, what, consumed_ - static_cast<Index>(input_.size - input_.pos), name_);
  }

  std::unique_ptr<ByteSource> compressed_;
  std::string name_;
  std::vector<char> block_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  std::size_t hint_ = 0;  // 0 between frames
  bool more_inside_ = false;
  Index consumed_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> unzstd(std::unique_ptr<ByteSource> compressed, std::string name) {
  return std::make_unique<ZstdSource>(std::move(compressed), std::move(name));
}

}  // namespace mpitron::io
